/// Whoever has an app's shared secret can have bodies of 2 MiB kept, as many as there is room for.
@Suite struct `Long bodies` {
  private static let now = Operated.now
  private static let count = 14
  private let adapter = MessageDecoder(verifier: SignedDataVerifier(roots: .apple))

  private static func message(_ number: Int) -> InboxMessage {
    // Such as cannot be made shorter.
    let body = Array("\(number) ".utf8) + Base64.standard.encode(.random(count: 3 << 19))
    return InboxMessage(kind: .notification, body: body, receivedAt: now + .seconds(Int64(number)))
  }

  /// A configuration whose results hold fewer than all of the bodies.
  private static func tight(_ here: Operated) -> DatabaseConfiguration {
    var configuration = here.configuration
    configuration.resultLimit = 20 << 20
    return configuration
  }

  @Test func `are listed, shown and replayed from quarantine, as many at a time as have room`() async throws {
    let here = try await Operated()
    let pool = Pool(here.configuration)
    let refusal = LedgerEntry.QuarantineReason(source: .legacy, code: "long", detail: "", claimedApp: Operated.bundleID)
    for number in 0..<Self.count {
      _ = try await LedgerStore(pool: pool).append([LedgerEntry(Self.message(number), .quarantined(refusal))])
    }
    let connection = try await Connection.open(Self.tight(here))
    let (listed, page) = try await connection.read { session throws(DatabaseError) in
      (
        try QuarantineTable.list(after: nil, code: nil, digestPrefix: nil, limit: 1_000, in: session),
        try QuarantineTable.page(after: nil, code: nil, digestPrefix: nil, limit: 1_000, in: session)
      )
    }
    #expect(listed.count == Self.count && listed.allSatisfy { $0.size > 2 << 20 })
    #expect(page.count == 7 && page.map(\.message.digest) == listed.prefix(7).map(\.digest))
    var told: [Digest] = []
    let replay = ReplayQuarantine(
      .all, readBy: IngestDecider(adapter: adapter), .ofTests, into: LedgerStore(pool: pool))
    let summary = try await replay.apply(by: Operated.kim, clock: .fixed(at: Self.now), on: connection) { digest, _ in
      told.append(digest)
    }
    #expect(summary.refused == Self.count && told == listed.map(\.digest))
    #expect(try await here.audit() == ["quarantine.replay quarantine --all: 0 accepted, \(Self.count) stay: ticket 4"])
    await connection.close()
    await pool.close()
  }

  @Test func `are listed, shown and read by a rebuild, as many at a time as have room`() async throws {
    let here = try await Operated()
    let pool = Pool(here.configuration)
    for number in 0..<Self.count {
      let message = Self.message(number)
      let findings = Findings(app: Operated.bundleID, environment: .sandbox)
      let accepted = LedgerEntry.AcceptedMessage(app: here.app.id, findings: findings, signedAt: nil, title: "V1 X")
      #expect(try await LedgerStore(pool: pool).append([LedgerEntry(message, .accepted(accepted))]) == [.stored])
    }
    await pool.close()
    let connection = try await Connection.open(Self.tight(here))
    let (listed, messages) = try await connection.read { session throws(DatabaseError) in
      (
        try InboxTable.list(limit: 1_000, digestPrefix: nil, in: session),
        try InboxTable.newest(limit: 1_000, digestPrefix: nil, in: session)
      )
    }
    await connection.close()
    #expect(listed.count == Self.count && messages.map(\.message.digest) == listed.map(\.digest))
    #expect(messages.map(\.message.body.count) == listed.map(\.size))
    let summary = try await RebuildLedger(Self.tight(here), .ofTests, readBy: adapter) { _ in }
      .apply(by: Operated.kim, at: Self.now)
    #expect(summary.messages == Self.count && summary.refused.count == Self.count)
  }
}
