/// The truth is made from what the world remembers; here it is made again from nothing but what was told.
@Suite struct `The truth about a world` {
  private static let year = LifelikeWorld.year(customers: 150)
  private let world = Self.year.world
  private let told = Self.year.told

  /// What the last notification about each transaction said of it.
  private func purchases() throws -> [String: [String: JSONValue]] {
    var known: [String: [String: JSONValue]] = [:]
    var current: [String: String] = [:]
    for notification in told {
      let draft = try #require(notification.v2)
      let transaction = try #require(draft.subject?.transaction)
      let id = try #require(transaction.text("transactionId"))
      let original = try #require(transaction.text("originalTransactionId"))
      // Nobody is told of the old period but by the new one.
      if draft.subtype == "UPGRADE", let old = current[original] {
        known[old]?["isUpgraded"] = true
      }
      known[id] = transaction.without("signedDate")
      if ["SUBSCRIBED", "DID_RENEW"].contains(draft.notificationType) || draft.subtype == "UPGRADE" {
        current[original] = id
      }
    }
    return known
  }

  private func lines(_ kind: String, v1Only: Bool = false) -> [JSONObject] {
    world.truth(v1Only: v1Only).filter { $0.text("kind") == kind }
  }

  @Test func `about purchases is what notifications told`() throws {
    let known = try purchases()
    let truth = lines("purchase")
    #expect(truth.count == known.count && truth.count > 500)
    for line in truth {
      let transaction = try #require(line["transaction"]?.object)
      let id = try #require(transaction.text("transactionId"))
      #expect(known[id] == transaction.byKey, "\(id)")
    }
  }

  @Test func `about subscriptions is what notifications told, with the status of the day`() throws {
    var renewals: [String: [String: JSONValue]] = [:]
    for notification in told {
      if let renewal = notification.v2?.subject?.renewal, let id = renewal.text("originalTransactionId") {
        renewals[id] = renewal.without("signedDate")
      }
    }
    let known = try purchases()
    let truth = lines("subscription")
    #expect(truth.count == renewals.count)
    for line in truth {
      let id = try #require(line.text("originalTransactionId"))
      let renewal = try #require(renewals[id])
      #expect(line["renewal"]?.object?.byKey == renewal)
      #expect(line.number("status") == status(of: id, renewal, known.values), "\(id)")
    }
    #expect(Set(truth.compactMap { $0.number("status") }).isSuperset(of: [1, 2, 5]))
  }

  /// Apple's rule, written a second time.
  private func status(
    of original: String, _ renewal: [String: JSONValue], _ known: some Collection<[String: JSONValue]>
  ) -> Int64? {
    let periods = known.filter { $0["originalTransactionId"]?.string == original }
    // Of two periods that begin together one was upgraded at once.
    let last = periods.max { a, b in
      let (x, y) = (a["purchaseDate"]?.integer ?? 0, b["purchaseDate"]?.integer ?? 0)
      return x == y ? a["isUpgraded"] != nil : x < y
    }
    guard let last, let end = last["expiresDate"]?.integer else { return nil }
    if last["revocationDate"] != nil { return 5 }
    if world.now.sinceEpoch < end { return 1 }
    if let grace = renewal["gracePeriodExpiresDate"]?.integer, world.now.sinceEpoch < grace { return 4 }
    return renewal["isInBillingRetryPeriod"]?.bool == true ? 3 : 2
  }

  @Test func `says how many purchases of each product there were, as the log has them`() {
    var sold: [String: Int] = [:]
    for line in lines("purchase") {
      sold[line["transaction"]?.object?.text("productId") ?? "", default: 0] += 1
    }
    let made: Set<WorldEvent.Kind> = [
      .subscribed, .resubscribed, .renewed, .recovered, .upgraded, .upgradedWithOffer, .bought,
    ]
    let count = world.customers().reduce(0) { $0 + world.log(of: $1).filter { made.contains($0.kind) }.count }
    #expect(sold.values.reduce(0, +) == count)
    #expect(Set(sold.keys) == Set(world.apps[0].products.map(\.id)))
  }

  @Test func `of V1 alone is less, never other`() throws {
    var restored: [String: String] = [:]
    var full: [String: JSONObject] = [:]
    for line in lines("purchase") {
      let transaction = try #require(line["transaction"]?.object)
      let id = try #require(transaction.text("transactionId"))
      full[id] = transaction
      for other in line["restoredTransactionIds"]?.array ?? [] { restored[try #require(other.string)] = id }
    }
    let legacy = lines("purchase", v1Only: true)
    #expect(legacy.count < full.count)
    var differing: Set<String> = []
    for line in legacy {
      let transaction = try #require(line["transaction"]?.object)
      let id = try #require(transaction.text("transactionId"))
      let truth = try #require(full[restored[id] ?? id])
      for (key, value) in transaction.byKey where truth[key] != value {
        #expect(restored[id] != nil)
        differing.insert(key)
      }
    }
    #expect(differing == ["transactionId", "originalPurchaseDate"])
    let renewals = Dictionary(
      lines("subscription").map { ($0.text("originalTransactionId") ?? "", $0) }
    ) { first, _ in first }
    for line in lines("subscription", v1Only: true) {
      let truth = try #require(renewals[line.text("originalTransactionId") ?? ""])
      if let renewal = line["renewal"]?.object {
        #expect(line["status"] == truth["status"])
        #expect(renewal.byKey.allSatisfy { truth["renewal"]?.object?[$0.key] == $0.value })
      } else {
        #expect(line.number("status") == 2 && truth.number("status") == 4)
      }
    }
  }

  @Test func `at an earlier time is what it was then`() {
    var earlier = LifelikeWorld.make(customers: 150)
    earlier.advance(by: .days(100))
    for customer in earlier.customers() {
      let then = world.state(of: customer, at: earlier.now).truth
      #expect(then == earlier.state(of: customer).truth)
    }
  }
}
