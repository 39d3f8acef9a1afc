import Database
import Glibc
import JSON
import Runtime
import Signing
import Simulator
import Support
import Synchronization
import Testing
import Time

/// Every command that may run for longer than a second, stopped in the middle by Ctrl-C or by a supervisor.
@Suite struct `A command that is stopped` {
  private static let app = "com.example.stopped"

  // MARK: Asking Apple

  @Test(arguments: [SIGINT, SIGTERM])
  func `reconcile tells what it took in, and goes on the next time`(signal: Int32) async throws {
    try await Market.with([Self.app]) { market in
      let database = try await TestDatabase.migrated()
      try await market.register(Self.app, database.program)
      let command = ["reconcile", Self.app, "--environment", "Sandbox", "--json"] + market.trust
      let missing = try await database.program.run(command + ["--dry-run"]).objects.first?["takenIn"]?.integer ?? 0
      try await market.control(
        "fault", "fault=slow", "value=400", "on=api", "operation=getNotificationHistory", "skip=20", "times=null")
      let stopped = try await StoppedProgram.run(database.program, command, signal) { _ in
        try await database.rows("SELECT COUNT(*) AS n FROM inbox").first?.int("n") ?? 0 > 0
      }
      stopped.expectOrderlyStop(saying: "What came is stored. Run the same command again to go on.")
      let report = try #require(try stopped.objects.first)
      let early = report["takenIn"]?.integer ?? 0
      #expect(early > 0 && early < missing, "\(report)")
      #expect(report["stoppedBy"]?.string == (signal == SIGINT ? "SIGINT" : "SIGTERM"))
      #expect(report["error"]?.string?.contains("stopped before its end") == true, "\(report)")
      try await market.control("mend")
      let whole = try await database.program.run(command)
      #expect(whole.status == 0, "\(whole)")
      #expect(try whole.objects.first?["takenIn"]?.integer == missing - early)
    }
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `asking about customers gives back all it had leased`(signal: Int32) async throws {
    try await Market.with([Self.app], customers: 80) { market in
      let database = try await TestDatabase.migrated()
      try await market.register(Self.app, database.program)
      try await Self.addWork(market, database)
      // Slower than a command has time for its stop; a few answers come at once.
      try await market.control(
        "fault", "fault=slow", "value=8000", "on=api", "operation=getTransactionHistory", "skip=5", "times=null")
      let stopped = try await StoppedProgram.run(
        database.program, ["seeds", "run", "--once", "--json"] + market.trust, signal
      ) { _ in try await Self.count(database, "SELECT COUNT(*) AS n FROM work WHERE owner IS NOT NULL") > 20 }
      stopped.expectOrderlyStop(saying: "ids that were not asked about are due at once")
      #expect(try await Self.count(database, "SELECT COUNT(*) AS n FROM work WHERE owner IS NOT NULL") == 0)
      let left = try await Self.count(database, "SELECT COUNT(*) AS n FROM work WHERE state = 0")
      let summary = try #require(try stopped.objects.last)
      #expect(summary["idsLeft"]?.integer == Int64(left) && left > 20, "\(summary)")
      #expect(summary["stoppedBy"] != nil)
      #expect(summary["customers"]?.integer ?? -1 >= 0)
      #expect((summary["customers"]?.integer ?? 0) < 60, "who was given back was not asked about: \(summary)")
      try await market.control("mend")
      let rest = try await database.program.run(["seeds", "run", "--once", "--json"] + market.trust)
      #expect(rest.status == 0, "\(rest)")
      #expect(try rest.objects.last?["idsLeft"] == 0)
    }
  }

  @Test func `the service gives back what it had leased, and its claim on the comparison with Apple`() async throws {
    try await Market.with([Self.app], customers: 80) { market in
      let database = try await TestDatabase.migrated()
      try await market.register(Self.app, database.program)
      try await Self.addWork(market, database)
      try await market.control(
        "fault", "fault=slow", "value=3000", "on=api", "operation=getTransactionHistory", "times=null")
      try await market.control(
        "fault", "fault=slow", "value=60000", "on=api", "operation=getNotificationHistory", "times=null")
      let service = try await RunningProgram.serve(database.program, market.trust)
      let isBusy = try await eventually(within: .seconds(90)) {
        let leased = try await Self.count(database, "SELECT COUNT(*) AS n FROM work WHERE owner IS NOT NULL")
        let claimed = try await Self.count(database, "SELECT COUNT(*) AS n FROM reconciliations")
        return leased > 20 && claimed > 0
      }
      #expect(isBusy)
      #expect(await service.end(SIGTERM) == 0, "\(service.notes)")
      #expect(try await Self.count(database, "SELECT COUNT(*) AS n FROM work WHERE owner IS NOT NULL") == 0)
      let day = Interval.hours(24).milliseconds
      let now = WallClock.system.now().sinceEpoch
      let claims = try await database.rows("SELECT claimed_at FROM reconciliations")
      #expect(!claims.isEmpty)
      for claim in claims { #expect(try claim.int64("claimed_at") + day <= now, "due at once") }
    }
  }

  @Test func `the service gives back a TEST notification that it had not asked for yet`() async throws {
    try await Market.with([Self.app]) { market in
      let database = try await TestDatabase.migrated()
      try await market.register(Self.app, database.program)
      try await market.control("fault", "fault=slow", "value=60000", "on=api", "times=null")
      let service = try await RunningProgram.serve(database.program, market.trust)
      let hasClaimed = try await eventually(within: .seconds(90)) {
        try await Self.count(database, "SELECT COUNT(*) AS n FROM heartbeats") > 0
      }
      #expect(hasClaimed)
      #expect(await service.end(SIGTERM) == 0, "\(service.notes)")
      let (day, now) = (Interval.hours(24).milliseconds, WallClock.system.now().sinceEpoch)
      let row = try #require(try await database.rows("SELECT asked_at, due_by, lost_since FROM heartbeats").first)
      #expect(try row.int64("asked_at") + day <= now && row.int64("due_by") <= now, "due at once")
      #expect(try row.optionalInt64("lost_since") == nil, "nobody refused it")
    }
  }

  /// Makes work of every customer's id, as an upload of their ids does.
  private static func addWork(_ market: Market, _ database: TestDatabase) async throws {
    let lines = try await market.control("truth").objects
    let ids = Set(lines.compactMap { $0["transaction"]?.object?["originalTransactionId"]?.string })
    try #require(ids.count > 60)
    for id in ids {
      try await database.execute(
        """
        INSERT IGNORE INTO work (app, environment, kind, subject, state, created_at, due_at)
        SELECT id, 2, 1, \(id), 0, 1, 1 FROM apps
        """)
    }
  }

  /// Has each change of a row take half a millisecond, so that a command is under way for seconds on every machine.
  private static func slow(_ table: String, in database: TestDatabase) async throws {
    let slowly: SQL = "ON \(identifier: table) FOR EACH ROW SET @slept = SLEEP(0.0005)"
    let connection = try await Connection.open(database.configuration)
    try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE TRIGGER slow_update BEFORE UPDATE \(slowly)")
      try session.run("CREATE TRIGGER slow_delete BEFORE DELETE \(slowly)")
    }
    await connection.close()
  }

  private static func count(_ database: TestDatabase, _ sql: SQL) async throws -> Int {
    try await database.rows(sql).first?.int("n") ?? 0
  }

  @Test func `a list of the API tells where it broke off`() async throws {
    try await Market.with([Self.app]) { market in
      let database = try await TestDatabase.migrated()
      try await market.register(Self.app, database.program)
      let truth = try await market.control("truth").objects
      let ids = truth.compactMap { $0["transaction"]?.object?["transactionId"]?.string }
      let id = try #require(ids.first)
      try await market.control(
        "fault", "fault=slow", "value=60000", "on=api", "operation=getTransactionHistory", "times=null")
      let trust = ["--base-url", market.url, "--root", market.root, "--environment", "Sandbox"]
      let list = try await StoppedProgram.run(
        database.program, ["api", "history", id, "--app", Self.app, "--json"] + trust, SIGINT
      ) { _ in try await market.matched() > 0 }
      list.expectOrderlyStop(saying: "A list goes on with --revision")
      #expect(try list.objects.last?["error"]?.object?["code"] == "cancelled", "\(list)")
    }
  }

  // MARK: The database

  @Test(arguments: [["--dry-run"], []])
  func `a rebuild says that nothing was changed`(options: [String]) async throws {
    let database = try await TestDatabase.migrated()
    let root = try await Self.fill(database)
    let before = try await database.program.run("db", "dump", "--canonical").output
    let name = "\(database.configuration.database ?? "")_rebuild"
    let stopped = try await StoppedProgram.run(
      database.program, ["db", "rebuild", "--json", "--trust-root", root] + options, SIGTERM
    ) { _ in
      let tables = try await database.rows(
        "SELECT 1 FROM information_schema.tables WHERE table_schema = \(name) AND table_name = 'seen_messages'")
      guard !tables.isEmpty else { return false }
      let seen = try? await Self.count(database, "SELECT COUNT(*) AS n FROM \(identifier: name).seen_messages")
      return seen ?? 0 > 0
    }
    stopped.expectOrderlyStop(saying: "Run it again: it begins anew")
    let summary = try #require(try stopped.objects.first)
    #expect(summary["messages"]?.integer ?? 0 > 0 && summary["stoppedBy"] == "SIGTERM", "\(summary)")
    #expect(try await database.rows("SELECT 1 FROM unfinished_rebuilds").isEmpty)
    #expect(try await database.program.run("db", "dump", "--canonical").output == before)
    // On a busy machine it has to leave before it removed its second database: the next one does.
    #expect(try await database.program.run("db", "rebuild", "--trust-root", root).status == 0)
    #expect(try await database.rows("SELECT 1 FROM information_schema.schemata WHERE schema_name = \(name)").isEmpty)
  }

  /// Some thousand notifications in the inbox, posted to a service; the root that signed them.
  private static func fill(_ database: TestDatabase) async throws -> String {
    let start = Milliseconds(1_770_000_000_000)
    let pki = try ApplePKI.generate(at: start)
    let simulated = SimulatedApp(name: "Load", bundleID: Self.app, appAppleID: 1_234_567)
    let root = database.place.file("root.der", pki.root.certificate.der)
    _ = try await database.program.run("app", "add", Self.app, "--app-apple-id", "1234567")
    var stream = try NotificationStream(seed: 7, app: simulated, pki: pki, start: start)
    let bodies = try (0..<1_500).map { _ in try stream.next().body }
    let service = try await RunningProgram.serve(database.program, ["--trust-root", root])
    try await Posting.all(bodies, to: "\(service.url)/notifications")
    #expect(await service.end(SIGTERM) == 0)
    return root
  }

  @Test func `a dump leaves whole lines`() async throws {
    let database = try await TestDatabase.migrated()
    _ = try await database.program.run("app", "add", Self.app)
    try await database.execute(
      """
      INSERT INTO aliases (app, environment, alias, kind, original_transaction_id, line, first_as_of, last_as_of)
      SELECT id, 2, CONCAT('a', seq), 1, CONCAT('o', seq), '', 1, 1 FROM apps JOIN seq_1_to_100000
      """)
    let stopped = try await StoppedProgram.run(database.program, ["db", "dump", "--canonical"], SIGINT) {
      Program.hasText("\($0)/output")
    }
    stopped.expectOrderlyStop(saying: "The lines that were written are whole")
    #expect(stopped.output.hasSuffix("}\n"))
    let lines = try stopped.objects.count
    #expect(lines > 0 && lines < 100_000)
    #expect(stopped.notes.contains("\(lines) lines written"), "\(stopped.notes)")
  }

  @Test(
    arguments: [
      (["quarantine", "replay", "--all"], "the rest is in quarantine"),
      (["quarantine", "purge", "--older-than", "0", "--yes"], "the rest is kept"),
    ])
  func `work on the quarantine keeps what was done`(command: [String], words: String) async throws {
    let database = try await TestDatabase.migrated()
    try await database.execute(
      """
      INSERT INTO quarantine (digest, received_at, source, code, detail, app, kind, body, size)
      SELECT UNHEX(SHA2(seq, 256)), seq, 'unproven', 'notJSON', 'for a test', '', 1, seq, 2000
      FROM seq_1_to_8000
      """)
    try await Self.slow("quarantine", in: database)
    let replays: SQL = "SELECT COUNT(*) AS n FROM quarantine WHERE replays = 0"
    let stopped = try await StoppedProgram.run(database.program, command + ["--json"], SIGINT) { _ in
      try await Self.count(database, replays) < 8_000
    }
    stopped.expectOrderlyStop(saying: words)
    let untouched = try await Self.count(database, replays)
    let summary = try #require(try stopped.objects.last)
    let done = summary["messages"]?.integer ?? summary["refused"]?.integer ?? 0
    #expect(done > 0 && Int(done) + untouched == 8_000, "\(summary) and \(untouched)")
    #expect(summary["stoppedBy"] == "SIGINT")
    let audit = try await database.rows("SELECT reason FROM audit WHERE action LIKE 'quarantine.%'")
    #expect(try audit.contains { try $0.text("reason").contains("\(done)") })
  }

  @Test(arguments: ["replay", "dead"])
  func `work on the outbox keeps what was done`(command: String) async throws {
    let database = try await TestDatabase.migrated()
    _ = try await database.program.run("app", "add", Self.app)
    _ = try await database.program.run(
      "app", "legacy-url", Self.app, "http://127.0.0.1:1/", "--environment", "Production")
    let state = command == "replay" ? 2 : 0
    try await database.execute(
      """
      INSERT INTO outbox (destination, message, state, created_at, due_at, expires_at)
      SELECT id, UNHEX(SHA2(seq, 256)), \(state), 1, 1, 1 FROM destinations JOIN seq_1_to_20000
      """)
    try await Self.slow("outbox", in: database)
    let untouched: SQL = "SELECT COUNT(*) AS n FROM outbox WHERE state = \(state)"
    let stopped = try await StoppedProgram.run(
      database.program, ["outbox", command, "--all", "--json"], SIGTERM
    ) { _ in try await Self.count(database, untouched) < 20_000 }
    stopped.expectOrderlyStop(saying: "What was changed stays so. Run it again to go on.")
    let summary = try #require(try stopped.objects.last)
    let done = summary["messages"]?.integer ?? 0
    let left = try await Self.count(database, untouched)
    #expect(done > 0 && Int(done) + left == 20_000, "\(summary) and \(left)")
    #expect(summary["stoppedBy"] == "SIGTERM")
  }

  @Test func `what cannot be left in time is left at 5 seconds, and at once by a second signal`() async throws {
    let database = try await TestDatabase.migrated()
    let root = try await Self.fill(database)
    let blocker = try await Connection.open(database.configuration)
    try await blocker.read { session throws(DatabaseError) in try session.run("LOCK TABLES inbox WRITE") }
    func blocked() async throws -> [Int] {
      try await blocker.read { session throws(DatabaseError) in
        try session.query(
          "SELECT id FROM information_schema.processlist WHERE state LIKE 'Waiting for table%' AND info LIKE '%inbox%'"
        ).map { row throws(DatabaseError) in try row.int("id") }
      }
    }
    func rebuild(again: Duration?) async throws -> StoppedProgram {
      // The server has not noticed yet that the one before is gone; it may between the two statements.
      for id in try await blocked() {
        try await blocker.read { session throws(DatabaseError) in _ = try? session.execute("KILL \(id)") }
      }
      #expect(try await eventually { try await blocked().isEmpty })
      return try await StoppedProgram.run(
        database.program, ["db", "rebuild", "--trust-root", root], SIGINT, again: again
      ) { _ in try await !blocked().isEmpty }
    }
    let patient = try await rebuild(again: nil)
    #expect(patient.status == 130 && patient.length < StoppedProgram.longest && patient.length > .seconds(3))
    #expect(patient.notes.contains("stopped by SIGINT"), "\(patient.notes)")
    #expect(patient.notes.contains("What was under way did not end in time."))
    // `timeout` sends two within a millisecond: they are one. Where other tests keep the machine busy, the second may be
    // heard so much later that it counts; not each time.
    var repeated = try await rebuild(again: .zero)
    for _ in 1...4 where repeated.length < .seconds(3) { repeated = try await rebuild(again: .zero) }
    #expect(repeated.status == 130 && repeated.length > .seconds(3), "\(repeated)")
    #expect(repeated.notes.contains("stopped by SIGINT"), "\(repeated.notes)")
    let hurried = try await rebuild(again: .milliseconds(400))
    // It left before the seconds were over that one signal leaves it.
    #expect(hurried.status == 130 && hurried.length < StoppedProgram.longest, "\(hurried)")
    #expect(!hurried.notes.contains("What was under way did not end in time."), "\(hurried.notes)")
    await blocker.close()
  }

  @Test func `doctor says which checks it made`() async throws {
    let isConnected = Atomic(false)
    try await withRawServer(
      readsHead: false,
      { _ in
        isConnected.store(true, ordering: .releasing)
        await untilCancelled()
      }
    ) { port in
      let place = TemporaryDirectory()
      let program = Program(
        options: ["--data-dir", "\(place.path)/data"],
        environment: ["SWITCHYARD_DATABASE": "mysql://nobody@127.0.0.1:\(port)/none"])
      let stopped = try await StoppedProgram.run(program, ["doctor"], SIGINT) { _ in
        isConnected.load(ordering: .acquiring)
      }
      #expect(stopped.status == 130 && stopped.length < StoppedProgram.longest)
      #expect(stopped.notes.contains("The other checks were not made."), "\(stopped.notes)")
    }
  }

  // MARK: Files

  @Test func `receipts and signed data are counted as far as they were looked at`() async throws {
    let place = TemporaryDirectory()
    let now = Milliseconds(1_780_000_000_000)
    let pki = try ApplePKI.generate(at: now)
    let root = place.file("root.der", pki.root.certificate.der)
    let jws = try pki.sign([
      "transactionId": "1", "bundleId": "com.example.app", "signedDate": .integer(now.sinceEpoch),
    ])
    let log = place.file("log.jsonl", Array([[UInt8]](repeating: jws, count: 30_000).joined(separator: [0x0A])))
    let verify = try await StoppedProgram.run(Program(), ["jws", "verify", "--json", "--root", root, log], SIGTERM) {
      Program.hasText("\($0)/output")
    }
    verify.expectOrderlyStop(saying: "The rest of the input was not verified.")
    #expect(try verify.objects.last?["lookedAt"]?.integer == Int64(try verify.objects.count - 1))
    #expect(verify.notes.contains("of 30000 looked at"))

    let receipt = place.file("receipt.b64", Array("MIIB".utf8))
    let files = [String](repeating: receipt, count: 10_000)
    let inspect = try await StoppedProgram.run(Program(), ["receipt", "inspect", "--json"] + files, SIGINT) {
      Program.hasText("\($0)/output")
    }
    inspect.expectOrderlyStop(saying: "The other files were not read.")
    #expect(try inspect.objects.last?["inspected"]?.integer == Int64(try inspect.objects.count - 1))
  }

  @Test func `a simulated world is written in whole lines`() async throws {
    let place = TemporaryDirectory()
    let stream = try await StoppedProgram.run(
      Program(), ["simulate", "stream", "--count", "1000000", "--data-dir", "\(place.path)/data"], SIGINT
    ) { Program.hasText("\($0)/output") }
    stream.expectOrderlyStop(saying: "What was written is whole lines")
    #expect(stream.notes.contains("\(try stream.objects.count) of 1000000 notifications written"), "\(stream.notes)")

    let generate = try await StoppedProgram.run(
      Program(),
      [
        "simulate", "--generate", "--customers", "1000000", "--without-notifications", "--out",
        "\(place.path)/world",
      ], SIGTERM
    ) { _ in Program.hasText("\(place.path)/world/truth.jsonl") }
    generate.expectOrderlyStop(saying: "What was written is whole lines")
    let receipts = Program.text("\(place.path)/world/receipts.csv").split(separator: "\n").count - 1
    #expect(receipts > 0 && generate.notes.contains(", \(receipts) receipts, 0 notifications"), "\(generate.notes)")
  }

  @Test(arguments: [["jws", "verify", "-"], ["receipt", "inspect", "-"]])
  func `one that waits for its input ends at once`(command: [String]) async throws {
    let place = TemporaryDirectory()
    let pipe = "\(place.path)/pipe"
    unsafe mkfifo(pipe, 0o600)
    // Open for both, so that neither side waits for the other.
    let writer = unsafe open(pipe, O_RDWR | O_CLOEXEC | O_NONBLOCK)
    defer { close(writer) }
    let stopped = try await StoppedProgram.run(
      Program(), command, input: pipe, SIGINT, waitsForInput: true, when: { _ in true })
    #expect(stopped.status == 130 && stopped.length < StoppedProgram.longest, "\(stopped)")
    #expect(!stopped.notes.contains("did not end in time"), "\(stopped.notes)")
  }
}
