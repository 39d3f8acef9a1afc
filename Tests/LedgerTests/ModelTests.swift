/// The worked examples of docs/internals/model.md through a real database: in any order, repeated, over eight
/// connections at the same time.
@Suite struct `The model in a database` {
  private func check(_ name: String = #function) async throws {
    let name = String(name.prefix { $0 != "(" })
    let example = try #require(try ModelExample.all()[name], "docs/internals/model.md has no example \(name)")
    try await check([example])
  }

  /// The traps of the plan, each by its name; below, whatever else the page says.
  private static let named: Set<String> = [
    "lateCancelAfterRefundReversed", "toggledDowngradeABAB", "restoresChangeTransactionIds", "lineIdsAppearingLater",
    "joinedCustomers", "v1RetryOfWhatV2Said", "refundOfAnOlderPeriodKeepsTheNewer", "upgradeMarksTheEarlier",
    "unsignedFutureAsOfIsCut",
  ]

  @Test func lateCancelAfterRefundReversed() async throws { try await check() }
  @Test func toggledDowngradeABAB() async throws { try await check() }
  @Test func restoresChangeTransactionIds() async throws { try await check() }
  @Test func lineIdsAppearingLater() async throws { try await check() }
  @Test func joinedCustomers() async throws { try await check() }
  @Test func v1RetryOfWhatV2Said() async throws { try await check() }
  @Test func refundOfAnOlderPeriodKeepsTheNewer() async throws { try await check() }
  @Test func upgradeMarksTheEarlier() async throws { try await check() }
  @Test func unsignedFutureAsOfIsCut() async throws { try await check() }

  @Test func `is as every other example of the page says`() async throws {
    let others = try ModelExample.all().filter { !Self.named.contains($0.key) }
    #expect(others.count > 5)
    try await check(others.sorted { $0.key < $1.key }.map(\.value))
  }

  /// Two orders of one example: what is kept must be as the example says, and both dumps the same line for line.
  private func check(_ examples: [ModelExample]) async throws {
    var random = SeededRandom()
    let seed = random.seed
    for example in examples {
      var dumps: [[String]] = []
      for _ in 0..<2 {
        let fixture = try await ModelFixture()
        let messages = (example.messages + example.messages).shuffled(using: &random)
        try await fixture.append(messages, connections: 8)
        let kept = try await fixture.kept(of: example)
        #expect(example.failures(of: kept) == [], "seed \(seed)")
        dumps.append(try await fixture.dump())
        await fixture.close()
      }
      #expect(dumps[0] == dumps[1] && !dumps[0].isEmpty, "\(example.name), seed \(seed)")
    }
  }
}

/// An empty ledger for the app of the examples.
struct ModelFixture {
  let pool: Pool
  let ledger: LedgerStore
  let app: App

  private static let start = Timestamp(1_780_000_000_000)

  init() async throws {
    pool = Pool(try await PrivateMariaDB.shared.database())
    ledger = LedgerStore(pool: pool)
    app = try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.start, in: session)
      return try AppTable.add(bundleID: ModelExample.app, appAppleID: nil, at: Self.start, in: session)
    }
  }

  func close() async { await pool.close() }

  /// Each as a message of its own; no two bodies are the same, so that none is dropped as known.
  func append(_ messages: [Findings], connections: Int) async throws {
    let numbered = Array(messages.enumerated())
    try await withThrowingDiscardingTaskGroup { group in
      for connection in 0..<connections {
        let share = numbered.filter { $0.offset % connections == connection }
        group.addTask {
          for (number, findings) in share { try await append(findings, number) }
        }
      }
    }
  }

  private func append(_ findings: Findings, _ number: Int) async throws {
    let message = InboxMessage(kind: .evidence, body: Array("message \(number)".utf8), receivedAt: Self.start)
    let entry = LedgerEntry(
      message,
      .accepted(
        LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "message \(number)")))
    let outcome = try await ledger.append([entry])
    #expect(outcome == [.stored])
  }

  func kept(of example: ModelExample) async throws -> ModelExample.Kept {
    var kept = ModelExample.Kept()
    for original in example.originals {
      let dossiers = try await ledger.dossiers(of: original, app: app, extent: .purchases)
      let dossier = try #require(dossiers.first, "nothing is known of \(original)")
      kept.purchases += dossier.purchases
      kept.renewals += dossier.renewals
      kept.events += dossier.events
      kept.attributions += dossier.attributions
      for members in dossier.customers.values { kept.customers.insert(Set(members.map(\.id))) }
    }
    for id in example.lookups {
      let found = try await ledger.dossiers(of: id, app: app, extent: .purchases)
      kept.found[id] = Set(found.flatMap(\.originalTransactionIDs))
    }
    return kept
  }

  func dump() async throws -> [String] {
    try await pool.read { session throws(DatabaseError) in
      var lines: [String] = []
      try CanonicalDump.write(from: session) { lines.append(String(decoding: $0.encoded(), as: UTF8.self)) }
      return lines
    }
  }
}
