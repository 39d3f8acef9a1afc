/// The old clients, each of which asks about the receipt on its device.
extension SwitchedMonths {
  /// How often whoever got no answer asks again, and after how long: Apple fails ten times at once.
  private static let (rounds, pause) = (24, Duration.milliseconds(500))

  private struct Asked: Sendable {
    let customer: CustomerID
    let app: String
    let truth: Set<String>
    let answer: (body: JSONObject, source: String)?

    var status: Int64? { answer.map { $0.body["status"]?.integer ?? -1 } }
  }

  /// Everybody asks, group by group, while the mover does harm; then whoever got no answer asks again.
  ///
  /// - Parameter settled: the apps that are in the same stage for longer than since the last move, and it.
  func askAll(
    _ outcome: inout Outcome, at moment: SwitchedMoment, by mover: any StageMover, _ settled: [String: String]
  ) async throws {
    // In another order each time: Apple is asked beside us about a few of those who come early.
    var order = SeededRandom(seed: UInt64(moment.day))
    let customers = Array(site.apple.world.customers()).shuffled(using: &order)
    async let disturbed: Void = mover.disturb(site)
    var (asked, left): ([Asked], [Asked]) = ([], [])
    for group in 0..<mover.groups {
      if group > 0 { try await advance(by: .hours(1), mover) }
      asked = try await ask(stride(from: group, to: customers.count, by: mover.groups).map { customers[$0] })
      left += judge(asked, &outcome, at: moment, mover, settled)
    }
    try await disturbed
    for _ in 0..<Self.rounds where !left.isEmpty {
      try await site.workers.revive()
      try await Task.sleep(for: Self.pause)
      asked = try await ask(left.map(\.customer))
      left = judge(asked, &outcome, at: moment, mover, settled)
    }
    // The histories that the first answers asked for are recent for fifteen minutes.
    let live = Set(mover.asksAgain ? mover.stages.filter { $0.value == "live" }.map(\.key) : [])
    for _ in 0..<Self.rounds where !live.isEmpty && outcome.ledgered.isEmpty {
      try await site.workers.revive()
      try await Task.sleep(for: Self.pause)
      asked = try await ask(customers.filter { live.contains(site.apple.world.state(of: $0).app.bundleID) })
      _ = judge(asked, &outcome, at: moment, mover, settled)
    }
    for one in left {
      guard let status = one.status else {
        outcome.untaken += 1
        continue
      }
      let text = "\(moment.date.iso8601), \(one.app) \(one.customer): \(status) again and again, \(one.truth)"
      if one.truth.isEmpty { outcome.complaints.append(text) } else { outcome.deprived.append(text) }
    }
  }

  /// Notes what they were told; whoever was told nothing, or to try again while harm is done, is returned.
  private func judge(
    _ asked: [Asked], _ outcome: inout Outcome, at moment: SwitchedMoment, _ mover: any StageMover,
    _ settled: [String: String]
  ) -> [Asked] {
    let (now, date) = (site.apple.world.now, moment.date.iso8601)
    var left: [Asked] = []
    for one in asked {
      guard let (body, source) = one.answer, let status = one.status else {
        left.append(one)
        continue
      }
      outcome.asked += 1
      if !one.truth.isEmpty { outcome.askedWithAccess += 1 }
      outcome.answers["\(source) \(status)", default: 0] += 1
      if source == "apple", settled[one.app] == "complete" {
        outcome.complaints.append("\(date), \(one.app) \(one.customer): \(status) by apple in complete")
      }
      if ["ramp", "live"].contains(mover.stages[one.app]), ["ledger", "lookup"].contains(source) {
        outcome.ledgered.insert(one.app)
      }
      // Apple's words for: try again.
      let isLater = mover.isHarmful && (status == 21_009 || (21_100...21_199).contains(status))
      if status == 21_005 || isLater {
        outcome.postponed[status, default: 0] += 1
        if isLater { left.append(one) }
        continue
      }
      let running = NaiveClient.running(in: body, at: now)
      let missing = one.truth.subtracting(running)
      if !missing.isEmpty {
        outcome.deprived.append("\(date), \(one.app) \(one.customer): \(status) by \(source), \(missing)")
      }
      if !running.isSubset(of: one.truth) { outcome.extended += 1 }
    }
    return left
  }

  /// Four at once.
  private func ask(_ customers: [CustomerID]) async throws -> [Asked] {
    let world = site.apple.world
    return try await withThrowingTaskGroup(of: [Asked].self) { group in
      for lane in 0..<4 {
        let share = stride(from: lane, to: customers.count, by: 4).map { customers[$0] }
        group.addTask {
          var asked: [Asked] = []
          for customer in share { if let one = try await ask(about: customer, in: world) { asked.append(one) } }
          return asked
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  /// Nil: nothing is in the receipt, or Apple's own answer does not tell of the access either.
  private func ask(about customer: CustomerID, in world: AppStoreWorld) async throws -> Asked? {
    let state = world.state(of: customer)
    guard !state.legacyPurchases.isEmpty, let app = site.apps.first(where: { $0.app.bundleID == state.app.bundleID })
    else { return nil }
    let truth = Set(state.subscriptions.filter { $0.status == 1 || $0.status == 4 }.map(\.originalTransactionID))
    let theirs = SimulatedVerifyReceiptResponse(about: state.receipt, of: state, requestedAt: world.now).object(
      latestReceipt: [])
    guard truth.isSubset(of: NaiveClient.running(in: theirs, at: world.now)) else { return nil }
    let receipt = try state.receipt.encoded(signedBy: site.apple.store.identity.receiptPKI)
    let request: JSONObject = [
      "receipt-data": .string(String(decoding: receipt, as: UTF8.self)), "password": .string(app.sharedSecret),
    ]
    let answer = try? await site.client.send(
      ClientRequest(method: "POST", url: url + "/verifyReceipt", body: request.encoded(), deadline: .seconds(60)))
    let body = answer.flatMap { $0.status == 200 ? try? JSONReader.read($0.body).object : nil }
    return Asked(
      customer: customer, app: app.app.bundleID, truth: truth,
      answer: body.map { ($0, answer?.headers["switchyard-answered-by"] ?? "nobody") })
  }
}
