import JSON
import Purchases
import Wire

/// A bare ID that a back end submits, stored for a lookup at Apple.
enum TransactionIDSubmission {
  /// Returns the seed in `{"originalTransactionId": "…"}` or `{"transactionId": "…"}`; `nil` for another object.
  static func seed(_ object: JSONObject, of origin: V1Context) throws(MessageError) -> TransactionReference? {
    guard let value = value(of: object) else { return nil }
    let app = try origin.app(claimed: [object["bundleId"]?.string])
    guard let id = V1Purchase.identity(value.looseText), id.utf8.allSatisfy(isOfID) else {
      throw MessageError(
        .authentic, .missingIdentity, "no id that Apple could be asked by: digits, as in a receipt or a transaction",
        claimedApp: app)
    }
    let environment = try object["environment"].map { name throws(MessageError) in
      try origin.environment(named: name.string ?? "", app: app)
    }
    return TransactionReference(app: app, environment: environment ?? origin.environment, transactionID: id)
  }

  /// Returns the ID value of such an object, valid or not; `nil` for another object.
  static func value(of object: JSONObject) -> JSONValue? {
    guard object["signedTransactionInfo"] == nil, object["signedRenewalInfo"] == nil else { return nil }
    return object["originalTransactionId"] ?? object["transactionId"]
  }

  /// Reports the members without meaning here.
  static func survey(_ object: JSONObject) -> UndocumentedContent {
    var survey = UndocumentedContent()
    for member in object.members where !members.contains(member.key) { survey.add(unknown: member.key) }
    return survey
  }

  private static let members: Set<String> = [
    "originalTransactionId", "transactionId", "environment", "bundleId", "userId", "saidAt",
  ]

  private static func isOfID(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "-")
  }
}

extension DecodedMessage {
  /// Creates a message with only a seed.
  ///
  /// Without a known environment the seed belongs to the first one to ask.
  init(bare seed: TransactionReference, of origin: V1Context, survey: UndocumentedContent) throws(MessageError) {
    var findings = Findings(app: seed.app, environment: seed.environment ?? .production)
    findings.seeds = [seed]
    try MessageError.checkLengths(findings)
    self.init(
      app: seed.app, appAppleID: nil, environment: findings.environment, signedAt: nil, title: "id",
      findings: findings, survey: survey, trust: origin.trust)
  }
}
