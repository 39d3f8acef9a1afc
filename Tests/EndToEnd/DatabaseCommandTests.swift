import Database
import JSON
import Support
import Testing

@Suite struct `switchyard db` {
  @Test func `makes a private database at first use, and finds it again`() async throws {
    let place = TemporaryDirectory()
    let program = Program(options: ["--data-dir", "\(place.path)/data"], runsProcesses: true)
    let missing = try #require(try await program.run("db", "migrate", "--dry-run", "--json").objects.first)
    #expect(missing["installed"] == 0)
    #expect(missing["steps"]?.array?.isEmpty == false)
    let migrated = try await program.run("db", "migrate")
    #expect(migrated.status == 0, "\(migrated)")
    #expect(migrated.output.hasPrefix("done: version 1"))
    let again = try await program.run("db", "migrate")
    #expect(again.output.hasPrefix("the schema is version"))
    let status = try #require(try await program.run("db", "status", "--json").objects.first)
    #expect(status["schema"]?.object?["isCurrent"] == true)
    #expect(try await program.run("db", "dump", "--canonical").status == 0)
  }

  @Test func `reaches the private database that another process runs`() async throws {
    let place = TemporaryDirectory()
    let server = EmbeddedServer(directory: "\(place.path)/data/database")
    _ = try await server.start()
    let outcome = try await Program(options: ["--data-dir", "\(place.path)/data"], runsProcesses: true).run(
      "db", "migrate")
    await server.stop()
    #expect(outcome.status == 0, "\(outcome)")
  }

  @Test func `leaves the schema of a shared database to db migrate`() async throws {
    let database = try await TestDatabase()
    let outcome = try await database.program.run("app", "list")
    #expect(outcome.status == 1)
    #expect(outcome.notes.contains("switchyard db migrate"))
  }

  @Test func `says when nothing answers`() async throws {
    let outcome = try await Program().run("db", "status", "--database", "mysql://nobody@127.0.0.1:1/none")
    #expect(outcome.status == 1)
    #expect(outcome.notes.contains("connectionRefused"), "\(outcome)")
  }

  @Test func `refuses a schema that is too new`() async throws {
    let database = try await TestDatabase.migrated()
    try await database.execute("INSERT INTO schema_versions (version, title, applied_at) VALUES (1000, 'future', 0)")
    for command in [["db", "migrate"], ["app", "list"], ["db", "rebuild"], ["quarantine", "list"]] {
      let outcome = try await database.program.run(command)
      #expect(outcome.status == 1, "\(command)")
      #expect(outcome.notes.contains("use a newer build"), "\(outcome)")
    }
    #expect(try await database.program.run("doctor").status == 1)
  }

  @Test func `rebuilds one at a time`() async throws {
    let database = try await TestDatabase.migrated()
    let connection = try await Connection.open(database.configuration)
    let name = "rebuild \(database.configuration.database ?? "")"
    _ = try await connection.read { session throws(DatabaseError) in
      try session.query("SELECT GET_LOCK(\(name), 0)")
    }
    let outcome = try await database.program.run("db", "rebuild")
    await connection.close()
    #expect(outcome.status == 1)
    #expect(outcome.notes.contains("another rebuild"), "\(outcome)")
    #expect(try await database.program.run("db", "rebuild").status == 0)
  }
}
