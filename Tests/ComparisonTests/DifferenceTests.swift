@Suite struct `The differences of two answers` {
  private func answer(_ rows: [JSONObject], status: Int64 = 0) -> JSONObject {
    [
      "status": .integer(status), "receipt": ["request_date_ms": "1", "bundle_id": "b"],
      "latest_receipt": "AAAA", "latest_receipt_info": .array(rows.map(JSONValue.object)),
    ]
  }

  private func row(_ line: String, _ transaction: String = "5", _ more: JSONObject = [:]) -> JSONObject {
    var row: JSONObject = ["web_order_line_item_id": .string(line), "transaction_id": .string(transaction)]
    for member in more { row[member.key] = member.value }
    return row
  }

  @Test func `leave out what each answer has anew`() {
    var ours = answer([row("1")])
    ours["latest_receipt"] = "BBBB"
    ours["receipt"] = ["request_date_ms": "2", "bundle_id": "b"]
    #expect(FieldDifference.all(theirs: answer([row("1")]), ours: ours) == [])
  }

  @Test func `are none where the members stand in another order`() {
    let ours: JSONObject = [
      "latest_receipt_info": .array([["transaction_id": "5", "web_order_line_item_id": "1"]]),
      "receipt": ["bundle_id": "b"], "status": 0,
    ]
    #expect(FieldDifference.all(theirs: answer([row("1")]), ours: ours) == [])
    #expect(FieldDifference.all(theirs: ours, ours: answer([row("1")])) == [])
    #expect(FieldDifference.all(theirs: answer([row("1")]), ours: answer([row("1")], status: 21_006)).count == 1)
  }

  @Test func `name a row by its line, and a missing one once`() {
    let theirs = answer([row("1", "5"), row("2", "6")])
    let found = FieldDifference.all(theirs: theirs, ours: answer([row("2", "7")]))
    #expect(found.map(\.path) == ["latest_receipt_info[0]", "latest_receipt_info[1].transaction_id"])
    #expect(found[0].ours == nil && found[0].theirs == .object(row("1", "5")))
    #expect(found[1].theirs == "6" && found[1].ours == "7")
    let other = FieldDifference.all(theirs: answer([row("2", "7")]), ours: theirs)
    #expect(other.contains { $0.theirs == nil && $0.ours == .object(row("1", "5")) })
  }

  @Test func `are one where rows stand in another order`() {
    let found = FieldDifference.all(theirs: answer([row("1"), row("2")]), ours: answer([row("2"), row("1")]))
    #expect(found.map(\.path) == ["latest_receipt_info"])
  }

  @Test func `are found between a status alone and an answer`() {
    let found = FieldDifference.all(theirs: answer([row("1")]), ours: ["status": 21_004])
    #expect(found.contains { $0.path == "status" && $0.theirs == 0 && $0.ours == 21_004 })
    #expect(found.contains { $0.path == "latest_receipt_info[0]" && $0.ours == nil })
  }
}
