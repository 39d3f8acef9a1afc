@Suite struct `A rebuild` {
  private static let now = SignedStory.start + .days(365)

  @Test func `loses nothing that comes meanwhile, however long ago it was received`() async throws {
    let fixture = try await RebuildFixture()
    let waiting = Mutex(try await fixture.holdBack(all: true))
    let rebuild = fixture.rebuild { _ in try fixture.bring(waiting.withLock { $0.popLast() }) }
    let summary = try await rebuild.run(now: Self.now)
    #expect(waiting.withLock { $0.isEmpty })
    // One in each pass: ten passes before the exchange, the others after it.
    #expect(summary.messages == 10)
    #expect(summary.late == fixture.story.messages.count - 10)
    #expect(try await fixture.ledger.dump() == fixture.before)
    #expect(try await fixture.databases() == [fixture.database])
    await fixture.ledger.pool.close()
  }

  @Test func `compares with what comes meanwhile, too`() async throws {
    let fixture = try await RebuildFixture()
    let waiting = Mutex(try await fixture.holdBack(all: false))
    let rebuild = fixture.rebuild { _ in try fixture.bring(waiting.withLock { $0.popLast() }) }
    let rehearsal = try await rebuild.rehearse(now: Self.now)
    #expect(waiting.withLock { $0.isEmpty })
    #expect(rehearsal.isEqual)
    #expect(rehearsal.messages == fixture.story.messages.count)
    await fixture.ledger.pool.close()
  }

  @Test func `is known as unfinished when it is cut off after its exchange, until the next one is done`() async throws {
    let fixture = try await RebuildFixture()
    let waiting = Mutex(try await fixture.holdBack(all: true))
    struct CutOff: Error {}
    // Ten are read before the exchange.
    let afterIt = waiting.withLock { $0.count } - 10
    let cut = fixture.rebuild { _ in
      guard waiting.withLock({ $0.count }) > afterIt else { throw CutOff() }
      try fixture.bring(waiting.withLock { $0.popLast() })
    }
    let failure = await #expect(throws: Rebuild.Failure.self) { try await cut.run(now: Self.now) }
    #expect(failure?.code == .incomplete && failure?.description.contains("CutOff") == true)
    #expect(try await fixture.unfinished() == Self.now)

    while let digest = waiting.withLock({ $0.popLast() }) { try fixture.bring(digest) }
    _ = try await fixture.rebuild().run(now: Self.now + .days(1))
    #expect(try await fixture.unfinished() == nil)
    #expect(try await fixture.ledger.dump() == fixture.before)
    await fixture.ledger.pool.close()
  }

  @Test(arguments: [nil, SignedStory.start, SignedStory.start + .days(365)])
  func `changes nothing when its exchange fails, and takes back only its own announcement`(
    earlier: Timestamp?
  ) async throws {
    let fixture = try await RebuildFixture()
    if let earlier { try fixture.ledger.statement("INSERT INTO unfinished_rebuilds (since) VALUES (\(earlier))") }
    let rebuild = fixture.rebuild { _ in
      // Where the old table is to go.
      try fixture.ledger.statement("CREATE TABLE IF NOT EXISTS \(identifier: fixture.staging).old_events (id INT)")
    }
    let failure = await #expect(throws: Rebuild.Failure.self) { try await rebuild.run(now: Self.now) }
    #expect(failure?.code == .notExchanged && failure?.description.contains("nothing was changed") == true)
    #expect(try await fixture.unfinished() == earlier)
    #expect(try await fixture.ledger.dump() == fixture.before)
    #expect(try await fixture.databases() == [fixture.database])
    await fixture.ledger.pool.close()
  }

  @Test func `lets writers through while a long reader keeps it from its exchange`() async throws {
    let fixture = try await RebuildFixture()
    let reader = try await Connection.open(fixture.ledger.configuration)
    try await reader.read { session throws(DatabaseError) in
      try session.run("START TRANSACTION")
      _ = try session.query("SELECT COUNT(*) FROM purchases")
    }
    async let summary = fixture.rebuild().run(now: Self.now)
    #expect(await eventually(within: .seconds(90)) { (try? await fixture.isWaitingForExchange()) == true })
    try fixture.ledger.statement("UPDATE purchases SET as_of = as_of + 1")
    try await reader.read { session throws(DatabaseError) in try session.run("ROLLBACK") }
    #expect(try await summary.messages == fixture.story.messages.count)
    #expect(try await fixture.ledger.dump() == fixture.before)
    await reader.close()
    await fixture.ledger.pool.close()
  }

  @Test func `knows the name of an app that is added meanwhile`() async throws {
    let fixture = try await RebuildFixture()
    let late = Mutex(try await fixture.holdBack(all: false))
    let names = Mutex<Set<String>>([])
    let rebuild = fixture.rebuild { stored in
      names.withLock { _ = $0.insert(stored.bundleID) }
      guard let digest = late.withLock({ $0.popLast() }) else { return }
      let session = try Session(fixture.ledger.configuration)
      let app = try AppTable.add(bundleID: "com.example.late", appAppleID: nil, at: Self.now, in: session)
      _ = try session.execute("UPDATE aside SET app = \(app.id.number)")
      try fixture.bring(digest)
    }
    _ = try await rebuild.run(now: Self.now)
    #expect(names.withLock { $0 } == [SignedStory.app, "com.example.late"])
    await fixture.ledger.pool.close()
  }

  @Test func `does not go on without a body that is missing`() async throws {
    let fixture = try await RebuildFixture()
    try fixture.ledger.statement("DELETE FROM bodies LIMIT 1")
    await #expect(throws: DatabaseError(.column, "")) { try await fixture.rebuild().run(now: Self.now) }
    #expect(try await fixture.ledger.dump() == fixture.before)
    await fixture.ledger.pool.close()
  }

  @Test(arguments: ["empty", "precious", "ledger", "mixed", "view"])
  func `leaves a database alone that is not known to be a rebuild's`(kind: String) async throws {
    let fixture = try await RebuildFixture()
    try fixture.makeStaging(kind)
    for isDry in [true, false] {
      let failure = await #expect(throws: Rebuild.Failure.self) {
        if isDry {
          _ = try await fixture.rebuild().rehearse(now: Self.now)
        } else {
          _ = try await fixture.rebuild().run(now: Self.now)
        }
      }
      #expect(failure?.code == .foreignDatabase && failure?.description.contains(fixture.staging) == true)
    }
    #expect(try await fixture.databases().sorted() == [fixture.database, fixture.staging])
    #expect(try await fixture.ledger.dump() == fixture.before)
    try fixture.ledger.statement("DROP DATABASE \(identifier: fixture.staging)")
    await fixture.ledger.pool.close()
  }

  @Test func `drops what a rebuild left that was cut off, and is refused while another one runs`() async throws {
    let fixture = try await RebuildFixture()
    try fixture.makeStaging("left")
    _ = try await fixture.rebuild().run(now: Self.now)
    #expect(try await fixture.databases() == [fixture.database])
    #expect(try await fixture.ledger.dump() == fixture.before)

    let other = try await Connection.open(fixture.ledger.configuration)
    try await other.read { session throws(DatabaseError) in
      // The server may not have noticed yet that the rebuild before is gone.
      let rows = try session.query("SELECT GET_LOCK(\("rebuild \(fixture.database)"), 300) AS ours")
      #expect(try rows.first?.int("ours") == 1)
    }
    let failure = await #expect(throws: Rebuild.Failure.self) { try await fixture.rebuild().run(now: Self.now) }
    #expect(failure?.code == .alreadyRunning)
    await other.close()
    await fixture.ledger.pool.close()
  }
}

/// A ledger with a story in it, some messages of which can be held back and brought while a rebuild reads.
struct RebuildFixture: Sendable {
  let ledger: LedgerFixture
  let story: SignedStory
  /// The canonical dump with everything in.
  let before: [String]

  init() async throws {
    story = try SignedStory(customers: 2, periods: 2)
    ledger = try await LedgerFixture()
    let (story, ledger) = (story, ledger)
    _ = try await ledger.ledger.append(story.messages.map { try story.entry($0, for: ledger.app) })
    before = try await ledger.dump()
  }

  var database: String { ledger.configuration.database ?? "" }
  var staging: String { database + "_rebuild" }

  /// A rebuild that reads as the program does, after `meanwhile`.
  func rebuild(_ meanwhile: @escaping @Sendable (StoredMessage) throws -> Void = { _ in }) -> Rebuild {
    Rebuild(ledger.configuration, .ofTests) { stored in
      try meanwhile(stored)
      return try story.reading(stored.message).findings
    }
  }

  /// Takes messages out of the inbox and leaves what they taught: as if the service took them in when they are brought.
  ///
  /// All but the one with the greatest digest, or the one with the smallest; to be brought from the end, each comes
  /// before the place where a reader in the order of digests is.
  func holdBack(all: Bool) async throws -> [Digest] {
    let digests = story.messages.map(\.digest).sorted { $0.hex < $1.hex }
    let held = Array(all ? digests.dropLast() : digests.prefix(1))
    try ledger.statement("CREATE TABLE aside LIKE inbox")
    for digest in held {
      try ledger.statement("INSERT INTO aside SELECT * FROM inbox WHERE digest = \(digest.bytes)")
      try ledger.statement("DELETE FROM inbox WHERE digest = \(digest.bytes)")
    }
    return held
  }

  func bring(_ digest: Digest?) throws {
    guard let digest else { return }
    try ledger.statement("INSERT INTO inbox SELECT * FROM aside WHERE digest = \(digest.bytes)")
  }

  /// A database of the name that the rebuild wants.
  func makeStaging(_ kind: String) throws {
    let session = try Session(ledger.configuration)
    try session.run("CREATE DATABASE \(identifier: staging)")
    let tables: [SQL] =
      switch kind {
      case "precious": ["precious"]
      case "ledger": ["inbox", "purchases", "schema_versions"]
      case "mixed": ["seen_messages", "purchases", "precious"]
      case "view": ["seen_messages", "purchases"]
      case "left": ["seen_messages", "purchases", "old_events", "apps"]
      default: []
      }
    for table in tables { try session.run("CREATE TABLE \(identifier: staging).\(table) (id INT)") }
    if kind == "view" { try session.run("CREATE VIEW \(identifier: staging).customers AS SELECT 1") }
  }

  func isWaitingForExchange() async throws -> Bool {
    let name = database
    return try await ledger.pool.read { session throws(DatabaseError) in
      let waiting = try session.query(
        """
        SELECT 1 FROM information_schema.PROCESSLIST
        WHERE DB = \(name) AND INFO LIKE 'RENAME%' AND STATE LIKE 'Waiting for table metadata lock%'
        """)
      return !waiting.isEmpty
    }
  }

  func unfinished() async throws -> Timestamp? {
    try await ledger.pool.read { session throws(DatabaseError) in try Rebuild.unfinished(in: session) }
  }

  /// The database and what is left of a rebuild beside it.
  func databases() async throws -> [String] {
    let names = [database, staging]
    return try await ledger.pool.read { session throws(DatabaseError) in
      var found: [String] = []
      for row in try session.query(
        "SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN (\(list: names))")
      {
        found.append(try row.text("name"))
      }
      return found
    }
  }
}

extension LedgerFixture {
  /// Runs a statement on a session of its own, there and then: a rebuild reads in a closure that cannot wait.
  func statement(_ sql: SQL) throws(DatabaseError) {
    let session = try Session(configuration)
    _ = try session.execute(sql)
  }
}
