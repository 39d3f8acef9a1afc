let app = "com.example.app"

/// The rules that matter here; MappingsTests hold the real table to the same.
let purchaseRules = rules(
  PurchaseField.self,
  speaks: [.revocationDate, .revocationReason, .revocationType, .revocationPercentage, .isUpgraded],
  unheard: [
    .revocationDate, .revocationReason, .revocationType, .revocationPercentage, .expiresDate, .inAppOwnershipType,
  ]
)

let renewalRules = rules(
  RenewalField.self, speaks: [.gracePeriodExpiresDate, .isInBillingRetryPeriod, .expirationIntent], unheard: [])

private func rules<Field: FactField>(_: Field.Type, speaks: Set<Field>, unheard: Set<Field>) -> FoldRules<Field> {
  let rules = Field.allCases.map { field in
    let rule = FoldRules<Field>.Rule(
      id: "X-\(field.rawValue)", absence: speaks.contains(field) ? .speaks : .silent,
      silenced: unheard.contains(field) ? [.unverifiedReceipt] : [])
    return (field, rule)
  }
  guard let complete = FoldRules(Dictionary(uniqueKeysWithValues: rules)) else { preconditionFailure("all have one") }
  return complete
}

func factsOf<Field: FactField>(_ values: [Field: JSONValue]) -> Facts<Field> {
  var facts = Facts<Field>()
  for (field, value) in values { facts.set(field, value) }
  return facts
}

/// What `source` said at `asOf` about a line below the originalTransactionId "1".
func said(
  _ source: Source = .signedV2, at asOf: Int64, line: String = "10", original: String = "1",
  environment: Environment = .production, message: UInt8 = 1, _ values: [PurchaseField: JSONValue]
) -> PurchaseStatement {
  PurchaseStatement(
    key: PurchaseKey(
      app: app, environment: environment, originalTransactionID: original, line: Line(text: line)),
    source: source, rank: Rank(asOf: Timestamp(asOf), tieBreak: [message]), facts: factsOf(values),
    message: [message])
}

func saidOfRenewal(
  _ source: Source = .signedV2, at asOf: Int64, _ values: [RenewalField: JSONValue]
) -> RenewalStatement {
  RenewalStatement(
    key: SubscriptionKey(app: app, environment: .production, originalTransactionID: "1"), source: source,
    rank: Rank(asOf: Timestamp(asOf), tieBreak: [1]), facts: factsOf(values), message: [1])
}

/// How an event was told.
func told(
  _ source: Source = .signedV2, type: String = "DID_RENEW", subtype: String? = nil, uuid: String? = nil,
  original: String? = "1", line: String? = "10", transaction: String? = nil, date: Int64 = 5_000, at asOf: Int64 = 10,
  environment: Environment = .production, message: UInt8 = 1, details: JSONObject = [:]
) -> Event {
  Event(
    app: app, environment: environment, notificationUUID: uuid, notificationType: type, subtype: subtype,
    originalTransactionID: original, transactionID: transaction, line: line.map(Line.init(text:)),
    date: Timestamp(date), source: source, rank: Rank(asOf: Timestamp(asOf), tieBreak: [message]),
    details: details, message: [message], rule: nil)
}
