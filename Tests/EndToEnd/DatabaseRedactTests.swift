@Suite struct `switchyard db redact` {
  private static let app = "com.example.redact"
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"
  private static let count = 20_000

  /// Quarantine as a build left it that looked for nothing but passwords at the top.
  private func fill(_ database: TestDatabase) async throws {
    let body = #"{"notification_type":"CANCEL","nested":{"x":"secret is \#(Self.secret)"},"number":"#
    try await database.execute(
      """
      INSERT INTO quarantine (digest, received_at, source, code, detail, app, kind, body, size)
      SELECT UNHEX(SHA2(seq, 256)), 1, 'legacy', 'noSharedSecret', '', \(Self.app), 1, CONCAT(\(body), seq, '}'), 120
      FROM seq_1_to_20000
      """)
  }

  private static let digests: SQL = "SELECT CAST(SUM(CRC32(digest)) AS CHAR) FROM quarantine"

  private func holding(_ database: TestDatabase) async throws -> Int {
    let pattern = "%\(Self.secret)%"
    return try await database.rows("SELECT COUNT(*) AS held FROM quarantine WHERE body LIKE \(pattern)")[0].int("held")
  }

  @Test func `takes stored secrets out, across kill -9, and doctor knows how far it is`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, place) = (database.program, database.place)
    #expect(try await program.run("app", "add", Self.app).status == 0)
    let file = place.file("secret", Array(Self.secret.utf8))
    #expect(try await program.run("app", "secret", Self.app, "--file", file).status == 0)
    try await fill(database)
    let before = try await database.rows(Self.digests)

    let looked = try await program.run("db", "redact", "--dry-run", "--json")
    #expect(try looked.status == 5 && looked.objects.first?["changed"] == .integer(Int64(Self.count)), "\(looked)")
    #expect(try await holding(database) == Self.count)
    try await database.execute("UPDATE schema_versions SET applied_at = 0")
    try await database.execute("UPDATE credentials SET created_at = 0")
    let due = try await program.run("doctor").output
    #expect(due.contains("stored secrets") && due.contains("switchyard db redact"), "\(due)")

    var kills = 0
    for _ in 0..<3 {
      let streams = TemporaryDirectory()
      try program.write([], to: "\(streams.path)/input")
      let done = try await searched(database)
      let id = try program.spawn(["db", "redact"] + program.options, streams.path)
      let isUnderWay = await eventually(within: .seconds(60)) { ((try? await searched(database)) ?? 0) > done }
      kill(id, SIGKILL)
      if await Program.ended(id) == 128 + SIGKILL { kills += 1 }
      #expect(isUnderWay)
    }
    #expect(kills > 0)
    let rest = try await program.run("db", "redact", "--json")
    #expect(try rest.status == 0 && rest.objects.first?["dryRun"] == false, "\(rest)")
    #expect(try await holding(database) == 0)
    #expect(try await searched(database) == Self.count)
    let after = try await database.rows(Self.digests)
    #expect(try before[0].text(0) == after[0].text(0))
    #expect(try await !program.run("doctor").output.contains("stored secrets"))
    let nothing = try await program.run("db", "redact")
    #expect(nothing.output == "0 messages searched, 0 changed\n", "\(nothing)")
    let again = try await program.run("db", "redact", "--again")
    #expect(again.output == "\(Self.count) messages searched, 0 changed\n", "\(again)")
  }

  /// A retired secret whose master key is lost, and a row that no build can read.
  @Test func `goes on past what does not open and what cannot be read, and doctor says so`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, place) = (database.program, database.place)
    #expect(try await program.run("app", "add", Self.app).status == 0)
    let lost = place.file("lost", Array("0ddba110ddba110ddba110ddba110ddb".utf8))
    #expect(try await program.run("app", "secret", Self.app, "--file", lost).status == 0)
    try await database.execute(
      "UPDATE credentials SET retired_at = 1, sealed = CONCAT(LEFT(sealed, LENGTH(sealed) - 4), 'lost')")
    let file = place.file("secret", Array(Self.secret.utf8))
    #expect(try await program.run("app", "secret", Self.app, "--file", file).status == 0)
    try await database.execute("UPDATE credentials SET created_at = 0")
    try await fill(database)
    try await database.execute("UPDATE quarantine SET kind = 99 ORDER BY digest LIMIT 1")

    let done = try await program.run("db", "redact", "--json")
    #expect(try done.status == 0 && done.objects.first?["changed"] == .integer(Int64(Self.count - 1)), "\(done)")
    #expect(try done.objects.first?["unreadable"] == 1)
    #expect(try await holding(database) == 1)
    let doctor = try await program.run("doctor").output
    #expect(doctor.contains("1 stored messages cannot be read and were not searched for secrets"), "\(doctor)")
    #expect(doctor.contains("not searched for 1 shared secrets that do not open"), "\(doctor)")
    let rebuilt = try await program.run("db", "rebuild", "--json")
    #expect(try rebuilt.objects.first?["skipped"] == 0, "\(rebuilt)")
    #expect(try rebuilt.objects.first?["refused"] == ["count": 0, "examples": []], "\(rebuilt)")
  }

  private func searched(_ database: TestDatabase) async throws -> Int {
    try await database.rows("SELECT searched FROM secret_searches WHERE part = 'quarantine'").first?.int("searched")
      ?? 0
  }
}
