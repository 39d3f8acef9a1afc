import JSON
import Signing
import Support
import Testing

@Suite struct `switchyard simulate purchase` {
  @Test func `tells one purchase in every form, whose ids differ where Apple's do`() async throws {
    let place = TemporaryDirectory()
    let run = try await Program().run(
      "simulate", "purchase", "plus.monthly", "--days", "10", "--restores", "2", "--data-dir", place.path)
    #expect(run.status == 0, "\(run.notes)")
    let forms = try #require(try run.objects.first)
    let transaction = try #require(forms["v2"]?.object?["transaction"]?.object)
    let answer = try #require(forms["v1"]?.object?["verifyReceipt"]?.object)
    let row = try #require(answer["latest_receipt_info"]?.array?.first?.object)
    for (v1, v2) in [
      ("original_transaction_id", "originalTransactionId"), ("web_order_line_item_id", "webOrderLineItemId"),
      ("product_id", "productId"),
    ] {
      #expect(row[v1] != nil && row[v1] == transaction[v2])
    }
    #expect(row["transaction_id"] != transaction["transactionId"])
    let old = forms["v1"]?.object?["verifyReceiptOfTransaction"]?.object?["receipt"]?.object
    #expect(old?["transaction_id"] == row["transaction_id"])
    let notification = forms["v1"]?.object?["notifications"]?.array?.first?.object
    #expect(notification?["notification_type"] == "INITIAL_BUY")
    #expect(forms["v2"]?.object?["notification"]?.object?["subtype"] == "INITIAL_BUY")

    // What the program makes it reads itself.
    let receipts = try #require(forms["receipts"]?.object)
    let root = try #require(receipts["rootDER"]?.string.flatMap { Base64.standard.decode(Array($0.utf8)) })
    let rootPath = place.file("root.der", root)
    for kind in ["app", "transaction"] {
      let path = place.file("\(kind).b64", Array(try #require(receipts[kind]?.string).utf8))
      let read = try await Program().run("receipt", "inspect", "--root", rootPath, path)
      #expect(read.status == 0, "\(read.notes)")
    }
  }
}
