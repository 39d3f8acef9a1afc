import JSON
import Mappings
import Purchases
import Time

/// Folds what two sources said of one purchase into what is true, whichever was heard first.
func foldStatements() -> Purchase? {
  let bought = Timestamp(1_767_600_000_000)
  let key = PurchaseKey(
    app: "com.example.notes", environment: .production, originalTransactionID: "2000000000000001",
    line: Line(webOrderLineItemID: "2000000000000009", purchaseDate: bought, isSubscription: true))
  func statement(_ source: Source, at date: Timestamp, _ facts: JSONObject) -> PurchaseStatement {
    PurchaseStatement(
      key: key, source: source, rank: Rank(asOf: date, tieBreak: []), facts: Facts(stated: facts), message: [])
  }
  let signed: JSONObject = ["productId": "plus.monthly", "purchaseDate": 1_767_600_000_000, "price": 4_990]
  let cancelled: JSONObject = ["productId": "plus.monthly", "revocationDate": 1_767_700_000_000]
  let statements = [
    statement(.notificationV1, at: bought + .days(1), cancelled), statement(.signedV2, at: bought + .days(2), signed),
  ]
  // The signed payload is later and has no revocationDate: Apple took the refund back.
  return Purchase.fold(statements, rules: Vocabulary.embedded.purchases.rules).first
}
