@testable import Adapter

/// Before 2018 a renewal names its product alone.
@Suite struct `Renewals that name no subscription` {
  private func row(_ original: String, _ product: String?) -> V1Purchase {
    var row = V1Purchase(original: original, line: "9\(original)", cancelledAt: Timestamp(1))
    if let product { row.facts.set(.productId, .string(product)) }
    return row
  }

  private func renewal(_ members: JSONObject) -> PendingRenewalInfo { PendingRenewalInfo(members) }

  @Test func `are of the only one with rows of their product`() {
    let rows = [row("1", "a"), row("1", "a"), row("2", "b"), row("3", "b"), row("4", nil)]
    let elements = [
      renewal(["product_id": "a"]), renewal(["product_id": "b"]), renewal(["product_id": "c"]), renewal([:]),
      renewal(["product_id": "b", "original_transaction_id": "2"]),
    ]
    #expect(V1StatementMapping.originals(of: elements, rows) == ["1", nil, nil, "4", "2"])
  }

  @Test func `find it at a cost that follows from the length of the body`() {
    let rows = (0..<8_000).map { row("\($0)", "p\($0)") }
    let elements = (0..<8_000).map { renewal(["product_id": .string("p\($0)")]) }
    let time = ContinuousClock().measure {
      #expect(V1StatementMapping.originals(of: elements, rows) == (0..<8_000).map { "\($0)" })
    }
    #expect(time < .seconds(10), "\(time)")
  }
}
