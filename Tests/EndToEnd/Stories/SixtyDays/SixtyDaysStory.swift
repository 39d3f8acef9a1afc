/// Three apps that come from legacy to complete by hand while notifications are lost and services are killed.
@Suite struct SixtyDaysStory {
  /// A world in which a few customers have enough subscriptions.
  ///
  /// `scripts/soak switch` draws seeds.
  private static let seed: UInt64 = 1_923_987_471_592_573_246

  @Test func `take no customer's access in any stage, and end in the truth`() async throws {
    let calendar = SwitchedCalendar(length: .days(60), step: .days(5), lag: 0)
    let mover = HandMover(calendar: calendar, arrival: .days(10), killsForEach: false, asksAgain: true)
    let outcome = try await SwitchedMonths.byHand(
      customers: 4, lost: 10, seed: Self.seed, mover, afterwards: Self.compare)
    outcome.expectNobodyDeprived(Self.seed)
    #expect(!outcome.ledgered.isEmpty, "\(outcome.summary)")
    // The orders that no request carried out are not in the strikes.
    #expect(outcome.strikes.count >= 8, "\(outcome.summary)")
  }

  /// Compares the ledger with the App Store after a reconciliation.
  private static func compare(
    _ site: SwitchedSite, _ database: TestDatabase, _ outcome: inout SwitchedMonths.Outcome
  ) async throws {
    for app in site.apps {
      // 1: a part was refused, and is for the schedule. 3: something is left to ask about.
      try await site.run(
        ["reconcile", app.app.bundleID, "--environment", "Production", "--quiet", "0", "--json"] + site.trust,
        allowing: [0, 1, 3])
    }
    var last = ContinuousClock.now
    let isDone = try await eventually {
      let now = ContinuousClock.now
      // Fast, but slower than jobs are given up.
      site.time.advance(by: .milliseconds(40 * Int64((now - last) / .milliseconds(1))))
      last = now
      return try await database.count("work WHERE state = 0") == 0
    }
    if !isDone { outcome.complaints.append("history jobs wait") }
    let lost = try await lost(site)
    let dump = try await site.run(["db", "dump"]).objects
    let missing = lost.subtracting(dump.compactMap { $0["notificationUUID"]?.string })
    if lost.isEmpty { outcome.complaints.append("no notification was lost") }
    if !missing.isEmpty { outcome.complaints.append("lost for good: \(missing.count) of \(lost.count)") }
    let (world, pool) = (site.apple.world, Pool(database.configuration))
    for app in site.apps {
      let truth = world.truth().filter { $0["app"]?.string == app.app.bundleID }
      let known = try await KnownPurchases(of: app.app.bundleID, in: .production, pool)
      let compared = known.compared(with: truth, at: world.now)
      outcome.complaints += compared.differences.map(\.description)
      if compared.compared < 4 { outcome.complaints.append("\(app.app.bundleID): \(compared.compared) compared") }
    }
    await pool.close()
  }

  /// The notifications of version 2 that the App Store sent and that never arrived.
  private static func lost(_ site: SwitchedSite) async throws -> Set<String> {
    let list = try await site.apple.control(site.client, "GET", "notifications?state=lost&limit=10000")
    let lost = (list["notifications"]?.array ?? []).compactMap(\.object).filter { $0["version"] == 2 }
    return Set(lost.compactMap { $0["notificationUUID"]?.string })
  }
}
