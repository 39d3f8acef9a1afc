/// Commands that wait for Apple, the database, their input, their output or services, and are stopped by a signal.
@Suite struct StopStory {
  static let app = "com.example.stopped"

  // MARK: Apple

  @Test func `commands that ask Apple report what they did, release the rest and continue in the next run`()
    async throws
  {
    try await RunningSimulator.market([Self.app], customers: 60) { apple in
      let database = try await TestDatabase.migrated()
      try await apple.register(Self.app, database.program)
      try await stopReconcile(apple, database)
      try await stopSeeds(apple, database)
    }
  }

  private func stopReconcile(_ apple: RunningSimulator, _ database: TestDatabase) async throws {
    let command = ["reconcile", Self.app, "--environment", "Sandbox", "--json"] + apple.trust
    func missing() async throws -> Int64 {
      try await database.program.run(command + ["--dry-run"]).objects.first?["takenIn"]?.integer ?? 0
    }
    let all = try await missing()
    try await apple.control(
      "fault", "fault=slow", "value=400", "on=api", "operation=getNotificationHistory", "skip=20", "times=null")
    try await spawnAndKill(command, database) { try await database.count("inbox") > 0 }
    let rest = try await missing()
    #expect(rest < all, "what came before the kill is stored")
    let before = try await database.count("inbox")
    let stopped = try await StoppedProgram.run(database.program, command, SIGTERM) { _ in
      try await database.count("inbox") > before
    }
    stopped.expectOrderlyStop(saying: "Received data is stored. Run the same command again to continue.")
    let report = try #require(try stopped.objects.first)
    let early = report["takenIn"]?.integer ?? 0
    #expect(early > 0, "\(report)")
    #expect(early < rest, "\(report)")
    #expect(report["stoppedBy"] == "SIGTERM")
    #expect(report["error"]?.string?.contains("stopped before its end") == true, "\(report)")
    try await apple.control("mend")
    #expect(try await missing() == rest - early)
    try await killLookups(apple, database, command + ["--quiet", "0"])
    #expect(try await database.count("inbox WHERE kind = 5") == Int(all))
  }

  /// Kills a reconciliation while it asks Apple about customers; the next one has the result of an undisturbed one.
  private func killLookups(_ apple: RunningSimulator, _ database: TestDatabase, _ command: [String]) async throws {
    try await apple.control(
      "fault", "fault=slow", "value=400", "on=api", "operation=getTransactionHistory", "times=null")
    try await spawnAndKill(command, database) { try await database.count("work WHERE owner IS NOT NULL") > 0 }
    try await apple.control("mend")
    #expect(try await database.count("work WHERE owner IS NOT NULL") > 0)
    // The leases of a command that was killed end after a quarter of an hour.
    try await database.execute("UPDATE work SET due_at = 0 WHERE owner IS NOT NULL")
    let undisturbed = try await TestDatabase.migrated()
    try await apple.register(Self.app, undisturbed.program)
    for ledger in [database, undisturbed] {
      let outcome = try await ledger.program.run(command)
      #expect(outcome.status == 0, "\(outcome)")
      #expect(try await ledger.count("work WHERE owner IS NOT NULL") == 0)
    }
    let expected = try await Self.dump(undisturbed)
    #expect(expected.count > 60)
    let changes = try await Self.dump(database).symmetricDifference(expected)
    #expect(changes.isEmpty, "\(changes)")
  }

  /// The dump without the digests of messages, because Apple signs each response anew.
  private static func dump(_ database: TestDatabase) async throws -> Set<String> {
    let lines = try await database.program.run("db", "dump").objects
    return Set(
      lines.map { line in
        let members = line.filter { $0.key != "message" }.map { ($0.key, $0.value) }
        return String(decoding: JSONObject(members).encoded(), as: UTF8.self)
      })
  }

  /// Starts a command and kills it as soon as the condition holds.
  private func spawnAndKill(
    _ words: [String], _ database: TestDatabase, when isUnderWay: () async throws -> Bool
  ) async throws {
    let place = TemporaryDirectory()
    try database.program.write([], to: "\(place.path)/input")
    let id = try database.program.spawn(words + database.program.options, place.path)
    #expect(try await eventually { try await isUnderWay() })
    kill(id, SIGKILL)
    #expect(await Program.ended(id) == 128 + SIGKILL)
  }

  private func stopSeeds(_ apple: RunningSimulator, _ database: TestDatabase) async throws {
    let ids = try await database.addWork(apple)
    try await database.execute("UPDATE work SET state = 0, owner = NULL, begun = 0, due_at = 1")
    let words = ["seeds", "run", "--json"] + apple.trust
    // A few responses come immediately. The others take longer than a command has for its stop.
    try await apple.control(
      "fault", "fault=slow", "value=8000", "on=api", "operation=getTransactionHistory", "skip=5", "times=null")
    let stopped = try await StoppedProgram.run(database.program, words, SIGTERM) { _ in
      try await database.count("work WHERE owner IS NOT NULL") > 20
    }
    stopped.expectOrderlyStop(saying: "ids that were not asked about are due immediately")
    #expect(try await database.count("work WHERE owner IS NOT NULL") == 0)
    let left = try await database.count("work WHERE state = 0")
    let summary = try #require(try stopped.objects.last)
    #expect(summary["idsLeft"]?.integer == Int64(left), "\(summary)")
    #expect(left > 20, "\(summary)")
    #expect(summary["stoppedBy"] == "SIGTERM")
    #expect(summary["customers"]?.integer ?? -1 >= 0)
    #expect(summary["customers"]?.integer ?? .max < ids.count - 15, "it counted released jobs: \(summary)")
    try await apple.control("mend")
    let rest = try await database.program.run(words)
    #expect(rest.status == 0, "\(rest)")
    #expect(try rest.objects.last?["idsLeft"] == 0)
  }

  // MARK: The database

  @Test func `a rebuild that is stopped in its middle changes nothing, and the next one removes what it left`()
    async throws
  {
    let database = try await TestDatabase.migrated()
    _ = try await database.program.run("app", "add", Self.app)
    try await store(3_000, in: database)
    let before = try await database.program.run("db", "dump").output
    let name = "\(database.configuration.database ?? "")_rebuild"
    let stopped = try await StoppedProgram.run(database.program, ["db", "rebuild", "--json"], SIGTERM) { _ in
      let table: SQL = "information_schema.tables WHERE table_schema = \(name) AND table_name = 'seen_messages'"
      guard try await database.count(table) > 0 else { return false }
      return await (try? database.count("\(identifier: name).seen_messages")) ?? 0 > 0
    }
    stopped.expectOrderlyStop(saying: "Run it again: it begins anew")
    let summary = try #require(try stopped.objects.first)
    #expect(summary["messages"]?.integer ?? 0 > 0, "\(summary)")
    #expect(summary["stoppedBy"] == "SIGTERM", "\(summary)")
    #expect(try await database.count("unfinished_rebuilds") == 0)
    #expect(try await database.program.run("db", "dump").output == before)
    // On a busy machine it leaves before it has removed its second database.
    #expect(try await database.program.run("db", "rebuild").status == 0)
    #expect(try await database.count("information_schema.schemata WHERE schema_name = \(name)") == 0)
  }

  /// Sets messages aside whose digests are those of their numbers.
  private func setAside(_ count: Int, in database: TestDatabase) async throws {
    let pool = Pool(database.configuration)
    let refusal = LedgerEntry.QuarantineReason(
      source: .unproven, code: "notJSON", detail: "for a test", claimedApp: nil)
    for start in stride(from: 1, through: count, by: 500) {
      let entries = (start..<start + 500).map { number in
        LedgerEntry(
          InboxMessage(kind: .notification, body: Array("\(number)".utf8), receivedAt: Timestamp(Int64(number))),
          .quarantined(refusal))
      }
      _ = try await LedgerStore(pool: pool).append(entries)
    }
    await pool.close()
  }

  /// Stores IDs as messages, without signatures.
  private func store(_ count: Int, in database: TestDatabase) async throws {
    let pool = Pool(database.configuration)
    let (ledger, now) = (LedgerStore(pool: pool), WallClock.system.now())
    let app = try await pool.read { session throws(DatabaseError) in try AppTable.find(Self.app, in: session) }
    let known = try #require(app)
    for start in stride(from: 0, to: count, by: 500) {
      let entries = (start..<start + 500).map { number in
        let body = (["transactionId": .string("\(2_000_000_000 + number)")] as JSONObject).encoded()
        let message = InboxMessage(
          kind: .evidence, body: body, claim: SubmissionMetadata(environment: .sandbox), receivedAt: now)
        let findings = Findings(app: Self.app, environment: .sandbox)
        return LedgerEntry(
          message, .accepted(LedgerEntry.AcceptedMessage(app: known.id, findings: findings, signedAt: nil, title: "id"))
        )
      }
      #expect(try await ledger.append(entries).allSatisfy { $0 == .stored })
    }
    await pool.close()
  }

  @Test func `a rebuild that waits for a lock is left after 5 seconds, and immediately after a second signal`()
    async throws
  {
    let database = try await TestDatabase.migrated()
    let blocker = try await Connection.open(database.configuration)
    try await blocker.read { session throws(DatabaseError) in try session.run("LOCK TABLES inbox WRITE") }
    func blocked() async throws -> [Int] {
      try await blocker.read { session throws(DatabaseError) in
        try session.query(
          """
          SELECT id FROM information_schema.processlist WHERE state LIKE 'Waiting for table%' AND info LIKE '%inbox%'
            AND db IN (DATABASE(), CONCAT(DATABASE(), '_rebuild'))
          """
        ).map { row throws(DatabaseError) in try row.int("id") }
      }
    }
    func rebuild(again: Duration?) async throws -> StoppedProgram {
      // The server may not have noticed yet that the last process has ended.
      for id in try await blocked() {
        try await blocker.read { session throws(DatabaseError) in _ = try? session.execute("KILL \(id)") }
      }
      #expect(try await eventually { try await blocked().isEmpty })
      return try await StoppedProgram.run(database.program, ["db", "rebuild"], SIGINT, again: again) { _ in
        try await !blocked().isEmpty
      }
    }
    let patient = try await rebuild(again: nil)
    patient.expectOrderlyStop(saying: "The work in progress did not end in time.")
    #expect(patient.length > .seconds(3))
    let hurried = try await rebuild(again: .milliseconds(400))
    #expect(hurried.status == 130)
    #expect(hurried.length < StoppedProgram.longest, "\(hurried)")
    #expect(!hurried.notes.contains("The work in progress did not end in time."), "\(hurried.notes)")
    await blocker.close()
  }

  private static let changes: [(words: [String], change: SQL, left: SQL, note: String)] = [
    (
      ["quarantine", "replay", "--all"], "UPDATE ON quarantine", "quarantine WHERE replays = 0",
      "the rest is in quarantine"
    ),
    (
      ["quarantine", "purge", "--older-than", "0", "--yes"], "DELETE ON quarantine", "quarantine WHERE replays = 0",
      "the rest is kept"
    ),
    (["outbox", "replay", "--all"], "UPDATE ON outbox", "outbox WHERE state = 2", "Finished changes stay."),
    (["outbox", "dead", "--all"], "UPDATE ON outbox", "outbox WHERE state = 0", "Finished changes stay."),
  ]

  @Test(arguments: changes)
  func `a change of many rows keeps what was done`(
    words: [String], change: SQL, left: SQL, note: String
  ) async throws {
    let database = try await TestDatabase.migrated()
    let total = 8_000
    _ = try await database.program.run("app", "add", Self.app)
    _ = try await database.program.run(
      "app", "legacy-url", Self.app, "http://127.0.0.1:1/", "--environment", "Production")
    try await setAside(total, in: database)
    try await database.execute(
      """
      INSERT INTO outbox (destination, message, state, created_at, due_at, expires_at)
      SELECT id, UNHEX(SHA2(seq, 256)), \(words.contains("dead") ? 0 : 2), 1, 1, 1 FROM destinations JOIN seq_1_to_8000
      """)
    // A tenth of a second for 200 rows: the command runs for seconds, and a page of it for less than the grace on a busy machine.
    try await database.run(
      "CREATE TRIGGER slow BEFORE " + change
        + " FOR EACH ROW SET @rows = COALESCE(@rows, 0) + 1, @slept = IF(@rows % 200 = 0, SLEEP(0.1), 0)")
    let stopped = try await StoppedProgram.run(database.program, words + ["--json"], SIGTERM) { _ in
      try await database.count(left) < total
    }
    stopped.expectOrderlyStop(saying: note)
    let summary = try #require(try stopped.objects.last)
    let done = Int(summary["messages"]?.integer ?? summary["refused"]?.integer ?? 0)
    #expect(done > 0)
    #expect(try await database.count(left) == total - done, "\(summary)")
    #expect(summary["stoppedBy"] == "SIGTERM")
    let action = words.prefix(2).joined(separator: ".")
    let audit = try await database.rows("SELECT reason FROM audit WHERE action = \(action)")
    if words[0] == "quarantine" { #expect(try audit.contains { try $0.text("reason").contains("\(done)") }) }
  }

  // MARK: Input and output

  @Test func `a dump leaves whole lines`() async throws {
    let database = try await TestDatabase.migrated()
    _ = try await database.program.run("app", "add", Self.app)
    try await database.execute(
      """
      INSERT INTO aliases (app, environment, alias, kind, original_transaction_id, line, first_as_of, last_as_of)
      SELECT id, 2, CONCAT('a', seq), 1, CONCAT('o', seq), '', 1, 1 FROM apps JOIN seq_1_to_100000
      """)
    let stopped = try await StoppedProgram.run(database.program, ["db", "dump"], SIGTERM) {
      Program.hasText("\($0)/output")
    }
    stopped.expectOrderlyStop(saying: "The lines that were written are whole")
    #expect(stopped.output.hasSuffix("}\n"))
    let lines = try stopped.objects.count
    #expect(lines > 0 && lines < 100_000)
    #expect(stopped.notes.contains("\(lines) lines written"), "\(stopped.notes)")
  }

  @Test func `a command that waits for its input ends immediately`() async throws {
    let place = TemporaryDirectory()
    let pipe = "\(place.path)/pipe"
    unsafe mkfifo(pipe, 0o600)
    // Open for both, so that neither side waits for the other.
    let writer = unsafe open(pipe, O_RDWR | O_CLOEXEC | O_NONBLOCK)
    defer { close(writer) }
    let stopped = try await StoppedProgram.run(
      Program(), ["jws", "verify", "-"], input: pipe, SIGTERM, waitsForInput: true, when: { _ in true })
    stopped.expectOrderlyStop(saying: "The rest of the input was not verified.")
    #expect(!stopped.notes.contains("did not end in time"), "\(stopped.notes)")
  }

  @Test func `a command whose output is not read gives an account of what it read`() async throws {
    let place = TemporaryDirectory()
    let made = try await Program().run(
      "simulate", "--generate", "--seed", "12", "--customers", "80", "--app", Self.app, "--out", place.path)
    #expect(made.status == 0, "\(made.notes)")
    let rows = Program.text("\(place.path)/receipts.csv").split(separator: "\n")
    // A block is half a megabyte, and a pipe holds 64 KB. The padding makes each receipt another text.
    let table =
      rows[0...0] + (1...40).flatMap { count in rows.dropFirst().map { $0 + String(repeating: "=", count: count) } }
    let input = place.file("receipts.csv", Array(table.joined(separator: "\n").utf8))
    let streams = TemporaryDirectory()
    unsafe mkfifo("\(streams.path)/output", 0o600)
    let reader = unsafe open("\(streams.path)/output", O_RDWR | O_CLOEXEC | O_NONBLOCK)
    defer { close(reader) }
    try Program().write([], to: "\(streams.path)/input")
    let id = try Program().spawn(["extract", "--unverified", input, "--json"], streams.path)
    var held: Int32 = 0
    let isFull = await eventually(within: .seconds(90)) {
      unsafe ioctl(reader, UInt(FIONREAD), &held) == 0 && held > 60_000
    }
    #expect(isFull)
    let start = ContinuousClock.now
    kill(id, SIGTERM)
    #expect(await Program.ended(id) == 143)
    #expect(ContinuousClock.now - start < StoppedProgram.longest)
    let summary = try #require(try JSONReader.read(Array(Program.text("\(streams.path)/notes").utf8)).object)
    #expect(summary["complete"] == false)
    #expect(summary["stoppedBy"] == "SIGTERM")
    #expect(summary["outputMayBeCut"] == true)
    #expect(summary["in"]?.integer != nil)
  }
}
