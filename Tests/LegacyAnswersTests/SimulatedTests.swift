@Suite("A composed answer beside the simulator's", .computesForLong) struct SimulatedTests {
  /// An empty `latest_receipt_info` is what the simulator answers to a receipt without purchases.
  static func composer(_ ids: String...) throws -> ResponseComposer {
    ResponseComposer(try ComposerRules(choosing: ["Y-016"] + ids))
  }

  /// Fields of the answers that are the same for every customer of this world, and why.
  private static let constant: Set<String> = [
    // One app with one version.
    "receipt.bundle_id", "receipt.application_version", "receipt.bid", "receipt.bvrs", "latest_receipt_info.bid",
    "latest_receipt_info.bvrs", "latest_expired_receipt_info.bid", "latest_expired_receipt_info.bvrs",
    "receipt.original_application_version",
    "latest_receipt_info.app_item_id", "latest_expired_receipt_info.app_item_id", "receipt.app_item_id",
    // "true", or not there; an array that is empty.
    "latest_receipt_info.is_upgraded", "receipt.in_app", "latest_receipt_info", "pending_renewal_info",
    // Nobody subscribes to two of a kind at once, and few buy two of anything.
    "latest_expired_receipt_info.quantity", "receipt.quantity",
    // The simulator's devices have no identifiers.
    "receipt.unique_identifier", "receipt.unique_vendor_identifier", "latest_receipt_info.unique_identifier",
    "latest_receipt_info.unique_vendor_identifier", "latest_expired_receipt_info.unique_identifier",
    "latest_expired_receipt_info.unique_vendor_identifier",
  ]

  @Test func `is the same in every field that can be told, for customers in every state`() throws {
    let composer = try Self.composer()
    var comparison = SimulatedComparison()
    let count = TestSize.simulatedCustomers
    for (environment, seed) in [(AppStoreEnvironment.sandbox, UInt64(7)), (.production, 11)] {
      try SimulatedCases(customers: count / 2, in: environment, seed: seed).forEach { sample in
        try comparison.add(sample, answered: composer.answer(sample.request, sample.facts))
      }
    }
    for difference in comparison.different { print("different: \(difference)") }
    #expect(comparison.differences == 0)
    let missing = SimulatedCase.Situation.allCases.filter { comparison.situations[$0] == nil }
    #expect(missing == [], "no customer was ever in these situations")
    let unvaried = Set(comparison.values.filter { $0.value.count < 2 }.keys)
    #expect(unvaried.subtracting(Self.constant) == [], "these fields had one value only")
    #expect(comparison.cases > count * 2 && comparison.unavailable > 0 && comparison.echoed > count)
    print(
      "\(count) customers, \(comparison.cases) answers, \(comparison.equal.values.reduce(0, +)) fields equal, "
        + "\(comparison.unavailable) unavailable, \(comparison.echoed) echoed, never varied: \(unvaried.sorted())")
    print(comparison.situations)
  }

  @Test func `has refunded and upgraded periods by the date of their purchase where an app chose that`() throws {
    let composers = (try Self.composer(), try Self.composer("Y-049"))
    var moved = 0
    func rows(_ composer: ResponseComposer, _ sample: SimulatedCase) throws -> [JSONObject] {
      let answer = try JSONReader.read(composer.answer(sample.request, sample.facts), limits: .stored).object
      return (answer?["latest_receipt_info"]?.array ?? []).compactMap(\.object)
    }
    try SimulatedCases(customers: 300, in: .sandbox, seed: 7).forEach { sample in
      guard !sample.situations.isDisjoint(with: [.upgraded, .refunded]) else { return }
      let (usual, chosen) = (try rows(composers.0, sample), try rows(composers.1, sample))
      #expect(Set(usual) == Set(chosen))
      if usual != chosen { moved += 1 }
      let dates = chosen.compactMap { row in
        let isDead = row["is_upgraded"] != nil || row["cancellation_date_ms"] != nil
        let end = isDead ? nil : row["expires_date_ms"]
        return (end ?? row["purchase_date_ms"])?.string.flatMap { Int64($0) }
      }
      #expect(dates == dates.sorted(by: >))
    }
    #expect(moved > 0)
  }
}
