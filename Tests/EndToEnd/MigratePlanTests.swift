/// What `switchyard migrate` says of a source before it reads it in earnest, and of a job that no service carries out.
@Suite struct `switchyard migrate plan` {
  private static let app = "com.example.planned"

  /// Of the first source in a plan's JSON.
  private static func columns(ofPlan path: String) throws -> JSONObject {
    let plan = try JSONReader.read(Array(Program.text(path).utf8)).object
    return plan?["sources"]?.array?.first?.object?["columns"]?.object ?? [:]
  }

  @Test func `shows the columns of a file, and keeps no plan of which nothing would come`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    let out = "\(database.place.path)/plan.json"
    let table = database.place.file("old.csv", Array("Kunde,Beleg,Preis\nu1,2000000900000001,3\n".utf8))
    for command in ["plan", "start"] {
      let refused = try await program.run("migrate", command, table, "--app", Self.app)
      #expect(refused.status == 1 && refused.notes.contains("Kunde, Beleg, Preis"), "\(refused)")
    }
    let source = ["--app", Self.app, "--environment", "Sandbox", "--out", out]
    let planned = try await program.run(["migrate", "plan", table, "--column", "receipt=Beleg"] + source)
    #expect(planned.status == 0 && planned.output.contains("csv, receipt=Beleg, no column of users"), "\(planned)")
    #expect(planned.output.contains("not read: Kunde, Preis"), "\(planned)")
    let columns = try Self.columns(ofPlan: out)
    #expect(columns["format"] == "csv" && columns["receipt"] == "Beleg" && columns["user"] == JSONValue.null)
    #expect(columns["notRead"] == ["Kunde", "Preis"], "\(columns)")
    #expect(try await program.run("migrate", "apply", out, "--yes").status == 0)
    try await database.execute("UPDATE migration_jobs SET created_at = created_at - 60000")
    let status = try await program.run("migrate", "status", "1")
    #expect(status.output.contains("no process works on it"), "\(status)")
    #expect(status.output.contains("switchyard migrate resume 1 --here"), "\(status)")

    Files.remove(out)
    let useless = database.place.file("useless.txt", Array("n/a!\n".utf8))
    let refused = try await program.run(["migrate", "plan", useless] + source)
    #expect(refused.status == 4 && refused.notes.contains("every row was rejected"), "\(refused)")
    #expect(refused.output.contains("as line 1") && FileMetadata(out) == nil, "\(refused)")
  }

  @Test func `refuses where every row was read and rejected, and says so of a sample`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    let out = "\(database.place.path)/plan.json"
    let useless = database.place.file("useless.txt", Array("n/a!\n".utf8))
    let ids = database.place.file("ids.txt", Array("2000000900000001\n".utf8))
    let options = ["--app", Self.app, "--environment", "Sandbox", "--sample", "1", "--out", out]
    // The sample is all that there is.
    let refused = try await program.run(["migrate", "plan", useless] + options)
    #expect(refused.status == 4 && refused.notes.contains("every row was rejected"), "\(refused)")
    #expect(FileMetadata(out) == nil)
    let planned = try await program.run(["migrate", "plan", useless, ids] + options)
    #expect(planned.status == 0 && planned.notes.contains("every row of the sample was rejected"), "\(planned)")
    #expect(!planned.notes.contains("no plan was kept") && FileMetadata(out) != nil, "\(planned)")
  }

  @Test func `begins no job where there is no database`() async throws {
    let place = TemporaryDirectory()
    let ids = place.file("ids.txt", Array("2000000900000001\n".utf8))
    let program = Program(options: ["--data-dir", "\(place.path)/data"])
    for arguments in [["plan", ids], ["start", ids, "--yes"], ["verify", "1"]] {
      let refused = try await program.run(["migrate"] + arguments)
      #expect(refused.status == 1 && refused.notes.contains("there is no database in"), "\(refused)")
      #expect(FileMetadata("\(place.path)/data") == nil, "\(arguments)")
    }
  }

  @Test func `says which files of a folder lack a named column`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    let folder = TemporaryDirectory()
    _ = folder.file("a.csv", Array("Kunde,receipt\nu1,2000000900000001\n".utf8))
    _ = folder.file("b.txt", Array("2000000900000002\n".utf8))
    let arguments = [
      "migrate", "plan", folder.path, "--column", "user=Kunde", "--app", Self.app, "--environment", "Sandbox",
    ]
    let planned = try await program.run(arguments)
    #expect(planned.status == 0 && planned.notes.contains("b.txt"), "\(planned)")
    _ = folder.file("c.csv", Array("Kundin,receipt\nu3,2000000900000003\n".utf8))
    let refused = try await program.run(arguments)
    #expect(refused.status == 1 && refused.notes.contains("c.csv has no such column"), "\(refused)")
  }

  @Test func `is not applied to a folder that has changed, unless that is accepted`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    let out = "\(database.place.path)/plan.json"
    let folder = TemporaryDirectory()
    _ = folder.file("a.txt", Array("2000000900000001\n".utf8))
    let options = ["--app", Self.app, "--environment", "Sandbox"]
    #expect(try await program.run(["migrate", "plan", folder.path, "--out", out] + options).status == 0)
    func codes() async throws -> [String] {
      let refused = try await program.run("migrate", "apply", out, "--json")
      #expect(refused.status == 4, "\(refused)")
      let warnings = try refused.objects.first?["warnings"]?.array ?? []
      return warnings.compactMap { $0.object?["code"]?.string }
    }
    #expect(try await !codes().contains("changedFolder"))
    _ = folder.file("b.txt", Array("2000000900000002\n".utf8))
    #expect(try await codes().contains("changedFolder"))
    #expect(try await program.run("migrate", "apply", out, "--yes").status == 0)
    let report = try await program.run("migrate", "report", "1")
    #expect(report.output.contains("differ from the plan. New files may be left out"), "\(report)")
  }

  @Test func `refuses what names a column or a source twice, or is empty`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    let ids = database.place.file("ids.txt", Array("2000000900000001\n".utf8))
    let twice = try await program.run("migrate", "plan", ids, "--column", "receipt=A", "--column", "receipt=B")
    #expect(twice.status == 2 && twice.notes.contains("--column receipt=COLUMN only once"), "\(twice)")
    let empty = try await program.run(["migrate", "plan", ids, "-"], input: Array("\n".utf8))
    #expect(empty.status == 1 && empty.notes.contains("standard input has no rows. Check the export."), "\(empty)")
  }

  @Test func `keeps standard input only while a job or a plan needs it`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    let out = "\(database.place.path)/plan.json"
    let options = ["--app", Self.app, "--environment", "Sandbox"]
    let (ids, table) = (Array("2000000900000001\n".utf8), Array("Kunde,Beleg\nu1,2000000900000001\n".utf8))
    func kept() throws -> Int { try DirectoryListing.paths(below: "\(database.place.path)/data/migrations").count }
    // A header without receipts, a file that is not there, and warnings that nobody accepted.
    let unneeded: [(arguments: [String], input: [UInt8], status: Int32)] = [
      (["start", "-"], table, 1), (["start", "-", "/no/such/file"], ids, 1), (["start", "-"], ids, 4),
      (["plan", "-"], table, 1), (["plan", "-"], ids, 0),
    ]
    for (arguments, input, status) in unneeded {
      let outcome = try await program.run(["migrate"] + arguments + options, input: input)
      #expect(try outcome.status == status && kept() == 0, "\(arguments) \(outcome)")
    }
    let planned = try await program.run(["migrate", "plan", "-", "--out", out] + options, input: ids)
    #expect(try planned.status == 0 && kept() == 1, "\(planned)")
    // It can be applied again.
    #expect(try await program.run("migrate", "apply", out).status == 4)
    #expect(try await program.run("migrate", "apply", out, "--yes").status == 0)
    let started = try await program.run(["migrate", "start", "-", "--yes"] + options, input: ids)
    #expect(try started.status == 0 && kept() == 2, "\(started)")
  }
}
