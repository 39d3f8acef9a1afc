@Suite struct `The sample of a migration` {
  private static let zero = [UInt8](repeating: 0, count: MigrationSample.width)

  private static func receipts(_ name: String, _ count: Int) -> [[UInt8]] {
    (0..<count).map { Array("\(name) \($0)".utf8) }
  }

  /// The digest of a message is not its content's alone.
  private static func message(_ receipt: [UInt8]) -> [UInt8] { Digest.sha256(receipt + [1]).bytes }

  private static func store(
    _ receipts: [[UInt8]], of app: App, as kind: InboxMessage.Kind = .evidence, titled title: String = "receipt of 1",
    in session: borrowing Session
  ) throws(DatabaseError) {
    for receipt in receipts {
      _ = try session.execute(
        """
        INSERT INTO inbox (digest, month, received_at, arrival, kind, app, environment, title, size)
        VALUES (\(message(receipt)), 1, 1, 'arrival', \(kind.rawValue), \(app.id.number), 2, \(title), 1)
        """)
    }
  }

  /// A job that read these receipts.
  private static func job(_ receipts: [[UInt8]], in session: borrowing Session) throws(DatabaseError) -> Int {
    let job = try MigrationJobTable.add(
      [.init(source: "", size: nil)], app: nil, environment: nil, settings: MigrationSettings(), by: "",
      at: SignedStory.start, in: session)
    for receipt in receipts {
      let mark = MigrationStep.Mark(Digest.sha256(receipt).bytes)
      _ = try session.execute(
        """
        INSERT INTO migration_receipts (job, digest, mark, message)
        VALUES (\(job), \(mark.bytes), 'mark', \(message(receipt)))
        """)
    }
    return job
  }

  /// The digests of all receipts of a job, from the start to its end and from its beginning to the start.
  private static func walk(
    _ job: Int, of app: App, from start: [UInt8] = Self.zero, limit: Int = 1_000, in session: borrowing Session
  ) throws(DatabaseError) -> (digests: [[UInt8]], pages: Int, withoutMessage: Int) {
    let scope = AppScope(app: app.id, environment: .sandbox)
    var (digests, pages, withoutMessage): ([[UInt8]], Int, Int) = ([], 0, 0)
    for (first, last) in [(start, nil), (zero, start)] as [([UInt8], [UInt8]?)] {
      var from: [UInt8]? = first
      while let after = from {
        let page = try MigrationSample.page(of: job, in: scope, after: after, upTo: last, limit: limit, in: session)
        digests += page.receipts.map(\.digest.bytes)
        pages += 1
        withoutMessage += page.withoutMessage
        from = page.end
      }
    }
    return (digests, pages, withoutMessage)
  }

  @Test(arguments: [UInt8(0), 0x50, 0xFF])
  func `has each receipt of a job once, whatever its pages and where it begins`(start: UInt8) async throws {
    let fixture = try await LedgerFixture()
    let app = fixture.app
    let receipts = Self.receipts("ours", 20)
    let begin = [start] + [UInt8](repeating: 7, count: MigrationSample.width - 1)
    let (digests, pages, _) = try await fixture.pool.transaction { session throws(DatabaseError) in
      try Self.store(receipts, of: app, in: session)
      let job = try Self.job(receipts, in: session)
      return try Self.walk(job, of: app, from: begin, limit: 3, in: session)
    }
    #expect(digests.count == 20 && Set(digests) == Set(receipts.map(Self.message)))
    #expect(pages >= 7)
    await fixture.pool.close()
  }

  @Test func `has receipts that came live before the job, and no other messages`() async throws {
    let fixture = try await LedgerFixture()
    let app = fixture.app
    let (evidence, posted) = (Self.receipts("evidence", 1), Self.receipts("posted", 1))
    let (ids, read) = (Self.receipts("id", 1), Self.receipts("read", 1))
    let digests = try await fixture.pool.transaction { session throws(DatabaseError) in
      try Self.store(evidence, of: app, in: session)
      try Self.store(posted, of: app, as: .verifiedReceipt, in: session)
      try Self.store(ids, of: app, titled: "transactionId", in: session)
      let job = try Self.job(evidence + posted + ids + read, in: session)
      try Self.store(read, of: app, in: session)
      return try Self.walk(job, of: app, in: session).digests
    }
    #expect(Set(digests) == Set((evidence + posted + read).map(Self.message)))
    await fixture.pool.close()
  }

  @Test func `reads nothing of a larger job beside it`() async throws {
    let fixture = try await LedgerFixture()
    let app = fixture.app
    let (ours, theirs) = (Self.receipts("ours", 5), Self.receipts("theirs", 200))
    let (small, large) = try await fixture.pool.transaction { session throws(DatabaseError) in
      try Self.store(ours + theirs, of: app, in: session)
      let large = try Self.job(theirs + ours.prefix(2), in: session)
      let small = try Self.job(ours, in: session)
      return (
        try Self.walk(small, of: app, limit: 10, in: session), try Self.walk(large, of: app, limit: 10, in: session)
      )
    }
    #expect(Set(small.digests) == Set(ours.map(Self.message)) && small.digests.count == 5)
    #expect(small.pages == 2, "one page behind the start, and one before it")
    #expect(large.digests.count == 202)
    await fixture.pool.close()
  }

  @Test func `counts contents of which no message is found`() async throws {
    let fixture = try await LedgerFixture()
    let app = fixture.app
    let receipts = Self.receipts("ours", 4)
    let (digests, _, withoutMessage) = try await fixture.pool.transaction { session throws(DatabaseError) in
      // One is not in the inbox under its digest, and of one an earlier build noted no message.
      try Self.store(Array(receipts.dropFirst()), of: app, in: session)
      let job = try Self.job(receipts, in: session)
      let mark = MigrationStep.Mark(Digest.sha256(receipts[3]).bytes)
      _ = try session.execute(
        "UPDATE migration_receipts SET message = NULL WHERE job = \(job) AND digest = \(mark.bytes)")
      return try Self.walk(job, of: app, in: session)
    }
    #expect(Set(digests) == Set(receipts[1...2].map(Self.message)) && withoutMessage == 2)
    await fixture.pool.close()
  }
}
