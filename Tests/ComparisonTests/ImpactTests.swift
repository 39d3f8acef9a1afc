/// What a client that looks at dates alone takes from two answers.
@Suite struct `The impact of an answer` {
  private let now = Timestamp(1_700_000_000_000)

  private func row(
    _ original: String, _ product: String = "plus", ends days: Int64? = 10, line: String? = "1",
    more: JSONObject = [:]
  ) -> JSONValue {
    var row: JSONObject = ["original_transaction_id": .string(original), "product_id": .string(product)]
    if let days { row["expires_date_ms"] = .string("\((now + .days(days)).sinceEpoch)") }
    if let line { row["web_order_line_item_id"] = .string(line) }
    row["quantity"] = "1"
    for member in more { row[member.key] = member.value }
    return .object(row)
  }

  private func answer(_ rows: [JSONValue], inApp: [JSONValue] = [], pending: [JSONValue] = []) -> JSONObject {
    [
      "status": 0, "receipt": ["in_app": .array(inApp)], "latest_receipt_info": .array(rows),
      "pending_renewal_info": .array(pending),
    ]
  }

  private func impact(_ theirs: JSONObject, _ ours: JSONObject, _ facts: CustomerFacts = CustomerFacts())
    -> AccessImpact?
  { AccessImpact(theirs: theirs, ours: ours, facts: facts, at: now) }

  @Test func `is none where access is the same, whatever else differs`() {
    let theirs = answer([row("1"), row("2", ends: -3, line: "2")])
    #expect(impact(theirs, theirs) == nil)
    // What is over gives nothing, whenever it ended; nor do other fields.
    let ours = answer([row("1", line: "1", more: ["transaction_id": "99"]), row("2", ends: -9, line: "2")])
    #expect(impact(theirs, ours) == nil)
    // A grace period that is over, a cancelled row that had ended.
    #expect(impact(answer([row("1", ends: -1)]), answer([])) == nil)
  }

  @Test func `says which product, whether something is lost, and for how long`() throws {
    let lost = try #require(impact(answer([row("1")]), answer([row("1", ends: -1)])))
    #expect(lost.parts.map(\.originalTransactionID) == ["1"] && lost.parts.map(\.productID) == ["plus"])
    #expect(lost.parts[0].isLoss && lost.parts[0].isNow)
    #expect(lost.json["products"]?.array?.first?.object?["seconds"] == .integer(10 * 86_400))
    let later = try #require(impact(answer([row("1", ends: 4)]), answer([row("1", ends: 6)])))
    #expect(!later.parts[0].isLoss && !later.parts[0].isNow)
    #expect(later.json["products"]?.array?.first?.object?["seconds"] == .integer(2 * 86_400))
  }

  @Test func `counts grace periods, cancellations and upgrades`() throws {
    let ended = row("1", ends: -1)
    let grace: JSONValue = [
      "original_transaction_id": "1", "product_id": "plus",
      "grace_period_expires_date_ms": .string("\((now + .days(3)).sinceEpoch)"),
    ]
    let graced = try #require(impact(answer([ended], pending: [grace]), answer([ended])))
    #expect(graced.parts[0].isLoss)
    let cancelled = row("1", more: ["cancellation_date_ms": "1690000000000"])
    #expect(impact(answer([cancelled]), answer([row("1")]))?.parts[0].isLoss == false)
    #expect(impact(answer([row("1", more: ["is_upgraded": "true"])]), answer([cancelled])) == nil)
    // A cancellation in the latest rows counts for the receipt's own row of the same line.
    #expect(impact(answer([cancelled], inApp: [row("1")]), answer([cancelled])) == nil)
  }

  @Test func `counts for a client that reads the first row alone`() throws {
    let (running, dead) = (row("1"), row("1", "old", ends: 300, line: "2", more: ["is_upgraded": "true"]))
    let found = try #require(impact(answer([running, dead]), answer([dead, running])))
    #expect(found.parts.map(\.productID) == ["plus"])
    #expect(found.parts[0].isLoss)
    #expect(found.parts[0].isNow)
    #expect(impact(answer([dead, running]), answer([running, dead]))?.parts[0].isLoss == false)
    #expect(impact(answer([dead, running]), answer([dead, running])) == nil)
  }

  @Test func `is all access where one answer is an error, and none where both are`() throws {
    let theirs = answer([row("1"), row("7", "coins", ends: nil, line: nil)])
    let error: JSONObject = ["status": 21_004]
    #expect(impact(theirs, error)?.parts.count == 2)
    #expect(impact(error, theirs)?.parts.allSatisfy { !$0.isLoss } == true)
    #expect(impact(error, ["status": 21_010]) == nil)
    #expect(impact(answer([]), error) == nil)
  }

  @Test func `counts every consumable, and how many were bought`() throws {
    let three = row("7", "coins", ends: nil, line: nil, more: ["quantity": "3"])
    let lost = try #require(impact(answer([three]), answer([])))
    #expect(lost.parts[0].isLoss && lost.json["products"]?.array?.first?.object?["seconds"] == .null)
    let one = row("7", "coins", ends: nil, line: nil)
    #expect(impact(answer([three]), answer([one]))?.parts.first?.isNow == true)
  }

  @Test func `adds up money by currency, unknown prices apart`() throws {
    var price = Facts<PurchaseField>()
    price.set(.originalTransactionId, "1")
    price.set(.productId, "plus")
    price.set(.price, 9_990)
    price.set(.currency, "EUR")
    let facts = CustomerFacts(transactions: [CustomerFacts.Transaction(price)])
    let found = try #require(impact(answer([row("1"), row("2", line: "2")]), ["status": 21_004], facts))
    #expect(found.money == ["EUR": 9_990] && found.unknownPrices == 1)
    #expect(found.json["access"] == true)
  }

  @Test func `reads the one object of an iOS 6 answer`() {
    let row: JSONObject = [
      "transaction_id": "1", "original_transaction_id": "1", "product_id": "plus",
      "expires_date": .string("\((now + .days(2)).sinceEpoch)"),
    ]
    let running: JSONObject = ["status": 0, "receipt": .object(row), "latest_receipt_info": .object(row)]
    let ended: JSONObject = ["status": 21_006, "receipt": .object(row), "latest_expired_receipt_info": .object(row)]
    #expect(impact(running, ended)?.parts.first?.isLoss == true)
    #expect(impact(running, running) == nil)
  }
}
