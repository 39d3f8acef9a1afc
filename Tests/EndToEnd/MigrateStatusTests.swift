/// What `switchyard migrate status` says that ids wait for, while no service runs.
@Suite struct `switchyard migrate status` {
  private static let app = "com.example.watched"

  @Test func `names what the ids wait for, and Apple's limit only where that is it`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    let ids = database.place.file("ids.txt", Array("2000000900000001\n".utf8))
    let refused = try await program.run("migrate", "start", ids, "--app", Self.app, "--json")
    let warned = try refused.objects.first
    #expect(refused.status == 4 && warned?["warnings"]?.array?.isEmpty == false, "\(refused)")
    let started = try await program.run("migrate", "start", ids, "--app", Self.app, "--yes", "--json")
    #expect(started.status == 0, "\(started)")
    #expect(try await program.run("migrate", "pause", "1", "--reason", "a busy night").status == 0)
    let paused = try await program.run("migrate", "status", "1", "--json")
    let held = try #require(try paused.objects.first, "\(paused)")
    #expect(try await program.run("migrate", "status", "--json").objects.map { $0["state"] } == ["paused"])
    let holdUp = held["heldUp"]?.object
    #expect(holdUp?["cause"] == "paused" && holdUp?["text"] == "a busy night", "\(held)")
    #expect(held["pauseReason"] == "a busy night" && held["trouble"] == JSONValue.null, "\(held)")
    try await database.execute(
      "INSERT INTO migration_accounts SELECT 1, 0, id, 2, 'id', 500 FROM apps WHERE bundle_id = \(Self.app)")
    func cause(_ seconds: Bool) async throws -> String {
      let outcome = try await program.run("migrate", "status", "1", "--watch", "--json")
      let line = try #require(try outcome.objects.last, "\(outcome)")
      #expect((line["secondsLeft"]?.integer != nil) == seconds, "\(outcome)")
      return line["because"]?.string ?? ""
    }
    #expect(try await cause(false).contains("a key of the App Store Server API"))
    try await database.execute(
      """
      INSERT INTO credentials (app, kind, name, issuer, sealed, created_at)
      SELECT id, \(CredentialTable.Kind.apiKey.rawValue), 'a', '', 'x', 1 FROM apps WHERE bundle_id = \(Self.app)
      """)
    #expect(try await cause(true) == "Apple's limit for \(Self.app) (documented)")
    #expect(FileMetadata.makeDirectory("\(database.place.path)/data"))
    let flag = database.place.file("data/migrate.pause", [])
    #expect(try await cause(false).contains("migrate.pause"))
    let resumed = try await program.run("migrate", "resume", "1", "--customers-per-second", "1")
    let limits = "migration 1 is running, with limits of 1 customer a second\n"
    #expect(resumed.status == 0 && resumed.output.hasPrefix(limits), "\(resumed)")
    let status = try await program.run("migrate", "status", "1")
    #expect(status.output.contains("held up: the file \(flag) exists"), "\(status)")
    let throttling = try await program.run("migrate", "resume", "1", "--rows", "0", "--json")
    #expect(try throttling.objects.first?["heldUp"]?.object?["cause"] == "file", "\(throttling)")
    let unreasoned = try await program.run("migrate", "pause", "1", "--reason", "", "--json")
    #expect(try unreasoned.objects.first?["pauseReason"] == JSONValue.null, "\(unreasoned)")
    Files.remove(flag)
    try await database.execute("UPDATE flags SET stage = 'legacy' WHERE environment = 2")
    #expect(try await cause(false).contains("a stage above legacy"))
    try await database.execute("UPDATE flags SET stage = 'record'")
    let again = try await program.run("migrate", "pause", "1", "--json")
    #expect(try again.status == 1 && again.objects.first?["state"] == "paused", "\(again)")
    #expect(try await cause(true) == "the throttle of 1 customer a second")
  }
}
