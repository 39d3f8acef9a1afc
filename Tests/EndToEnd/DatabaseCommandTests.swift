@Suite struct `switchyard db` {
  @Test func `leaves the schema of a shared database to db migrate`() async throws {
    let database = try await TestDatabase()
    let outcome = try await database.program.run("app", "list")
    #expect(outcome.status == 1)
    #expect(outcome.notes.contains("switchyard db migrate"))
  }

  @Test func `says when nothing answers`() async throws {
    let outcome = try await Program().run("db", "status", "--database", "mysql://nobody@127.0.0.1:1/none")
    #expect(outcome.status == 1)
    #expect(outcome.notes.contains("the database does not answer"), "\(outcome)")
  }

  @Test func `refuses a schema that is too new`() async throws {
    let database = try await TestDatabase.migrated()
    try await database.execute("INSERT INTO schema_versions (version, title, applied_at) VALUES (1000, 'future', 0)")
    for command in [["db", "migrate"], ["app", "list"], ["db", "rebuild"], ["quarantine", "list"]] {
      let outcome = try await database.program.run(command)
      #expect(outcome.status == 1, "\(command)")
      #expect(outcome.notes.contains("another build made this database"), "\(outcome)")
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
