/// The lives of a simulated world's customers, told by both generations, end in one truth: the world's.
@Suite struct `A world told to a ledger` {
  private static let start = Timestamp(1_767_600_000_000)

  @Test func `by both generations is the truth, whatever the order, repetition and concurrency`() async throws {
    var random = SeededRandom()
    let seed = random.seed
    let story = try MixedStory(customers: 10, days: 150, seed: seed, telling: .both, start: Self.start)
    var dumps: [[String]] = []
    for lanes in [1, 8, 8] {
      let teller = try await StoryTeller(story)
      var messages = story.messages
      if lanes > 1 {
        // A fourth comes again. What Apple says is the same 78 hours later, unless a date of it passes meanwhile (a renewal
        // charged in advance); a user id is of the time we were told.
        messages += story.messages.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }.map {
          var later = $0.door == .evidence ? $0.receivedAt : $0.receivedAt + .hours(78)
          if Self.dates(in: $0.body).contains(where: { [received = $0.receivedAt] in $0 > received && $0 <= later }) {
            later = $0.receivedAt
          }
          return MixedStory.Message(door: $0.door, body: $0.body, receivedAt: later)
        }
        messages.shuffle(using: &random)
      }
      try await teller.tell(messages, lanes: lanes, using: &random)
      dumps.append(try await teller.fixture.dump())
      let known = try await teller.known()
      let compared = known.compared(with: story.truth(), at: story.world.now)
      #expect(compared.differences == [], "seed \(seed), \(lanes) connections")
      #expect(compared.compared > 5)
      await teller.fixture.pool.close()
    }
    #expect(dumps[0].count > 50)
    for dump in dumps.dropFirst() {
      #expect(dump.difference(from: dumps[0]).map(\.line) == [], "seed \(seed)")
    }
  }

  /// Returns the numbers of 13 digits in a body: dates in milliseconds.
  private static func dates(in body: [UInt8]) -> [Timestamp] {
    body.split { !(48...57).contains($0) }.filter { $0.count == 13 }.compactMap {
      Int64(String(decoding: $0, as: UTF8.self)).map { Timestamp($0) }
    }
  }

  @Test func `by V2 notifications alone is the truth`() async throws {
    try await expectTruth(.v2, v1Only: false)
  }

  @Test func `by V1 alone is the truth as far as V1 can tell it`() async throws {
    try await expectTruth(.v1, v1Only: true)
  }

  private func expectTruth(_ generations: MixedStory.Generations, v1Only: Bool) async throws {
    var random = SeededRandom()
    let seed = random.seed
    let story = try MixedStory(customers: 12, days: 200, seed: seed, telling: generations, start: Self.start)
    let teller = try await StoryTeller(story)
    let messages = story.messages.filter { v1Only || $0.door == .notification }.shuffled(using: &random)
    try await teller.tell(messages, lanes: 2, using: &random)
    let compared = try await teller.known().compared(
      with: story.truth(v1Only: v1Only), beyond: story.truth(), at: story.world.now)
    let differences = compared.differences.filter { difference in
      // Who comes back within the billing retry looks to V1 as who has paid at last: it infers, and says so. A refund
      // that was taken back stands until signed data clears it. The next period's offer, told by a notification, stands
      // until another notification or signed data says otherwise: an answer that leaves it out takes nothing back.
      let isBeyondV1 =
        difference.field == "transactionReason"
        || difference.subject.hasPrefix("subscription ")
          && ["offerType", "offerIdentifier"].contains(difference.field) && difference.truth == nil
        || story.reversedRefunds.contains(difference.subject)
          && ["revocationDate", "revocationReason", "status"].contains(difference.field)
      return !v1Only || !isBeyondV1
    }
    #expect(differences == [], "seed \(seed)")
    #expect(compared.compared > 5)
    await teller.fixture.pool.close()
  }
}

extension CollectionDifference<String>.Change {
  /// A line that only one of two dumps has.
  fileprivate var line: String {
    switch self {
    case .insert(_, let line, _): "+ \(line)"
    case .remove(_, let line, _): "- \(line)"
    }
  }
}

/// Reads a story's messages as the service does, and hands them to a ledger of its own.
private struct StoryTeller {
  let fixture: LedgerFixture
  private let adapter: MessageDecoder
  private let app: App

  init(_ story: MixedStory) async throws {
    fixture = try await LedgerFixture()
    app = try await fixture.pool.read { session throws(DatabaseError) in
      try AppTable.add(bundleID: MixedStory.app, appAppleID: nil, at: SignedStory.start, in: session)
    }
    let reader = ReceiptReader(trust: ReceiptTrust(exactly: [try story.receiptPKI.trustedRoot()]))
    adapter = MessageDecoder(
      verifier: SignedDataVerifier(roots: TrustedRoots(exactly: [try story.pki.trustedRoot()])), receipts: reader)
  }

  func tell(_ messages: [MixedStory.Message], lanes: Int, using random: inout SeededRandom) async throws {
    let shares = (0..<lanes).map { lane in messages.enumerated().filter { $0.offset % lanes == lane }.map(\.element) }
    let sizes = (0..<lanes).map { _ in Int.random(in: 1...20, using: &random) }
    try await withThrowingDiscardingTaskGroup { group in
      for (share, size) in zip(shares, sizes) {
        group.addTask {
          for start in stride(from: 0, to: share.count, by: size) {
            let batch = try share[start..<min(start + size, share.count)].map(entry)
            _ = try await fixture.ledger.append(batch)
          }
        }
      }
    }
  }

  func known() async throws -> KnownPurchases {
    try await KnownPurchases(of: MixedStory.app, in: .sandbox, fixture.pool)
  }

  private func entry(_ told: MixedStory.Message) throws -> LedgerEntry {
    let now = told.receivedAt
    let (message, reading): (InboxMessage, DecodedMessage)
    switch told.door {
    case .notification:
      message = InboxMessage(
        kind: .notification, body: told.body, identity: MessageIdentity(ofNotification: told.body).bytes,
        receivedAt: now)
      let origin = V1Context(app: MixedStory.app, environment: nil, trust: .sharedSecret, receivedAt: now)
      reading = try adapter.notification(told.body, message: message.digest, origin: origin, now: now)
    case .answer:
      message = InboxMessage(kind: .verifyReceiptAnswer, body: told.body, receivedAt: now)
      reading = try adapter.answer(
        told.body, app: MixedStory.app, environment: .sandbox, message: message.digest, now: now)
    case .evidence:
      message = InboxMessage(
        kind: .evidence, body: told.body,
        identity: MessageIdentity(ofEvidence: told.body, app: MixedStory.app, environment: .sandbox).bytes,
        receivedAt: now)
      reading = try adapter.evidence(
        told.body, app: MixedStory.app, environment: .sandbox, message: message.digest, now: now)
    }
    return LedgerEntry(
      message,
      .accepted(
        LedgerEntry.AcceptedMessage(
          app: app.id, findings: reading.findings, signedAt: reading.signedAt, title: reading.title)))
  }
}
