import JSON
import Purchases
import Wire

/// An id that a back end hands in without anything about it: kept, so that Apple can be asked.
enum BareID {
  /// The seed in `{"originalTransactionId": "…"}` or `{"transactionId": "…"}`; nil for another object.
  static func seed(_ object: JSONObject, of origin: LegacyOrigin) throws(Refusal) -> Seed? {
    guard let value = value(of: object) else { return nil }
    let app = try origin.app(claimed: [object["bundleId"]?.string])
    guard let id = LegacyPurchase.identity(value.looseText), id.utf8.allSatisfy(isOfID) else {
      throw Refusal(
        .authentic, .missingIdentity, "no id that Apple could be asked by: digits, as in a receipt or a transaction",
        claimedApp: app)
    }
    let environment = try object["environment"].map { name throws(Refusal) in
      try origin.environment(named: name.string ?? "", app: app)
    }
    return Seed(app: app, environment: environment ?? origin.environment, transactionID: id)
  }

  /// The id that an object is, whether or not it can be one; nil for another object.
  static func value(of object: JSONObject) -> JSONValue? {
    guard object["signedTransactionInfo"] == nil, object["signedRenewalInfo"] == nil else { return nil }
    return object["originalTransactionId"] ?? object["transactionId"]
  }

  /// Tells the members that say nothing here.
  static func survey(_ object: JSONObject) -> Survey {
    var survey = Survey()
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

extension Reading {
  /// A seed and nothing else; where nobody knows the environment, it stands below the one that is asked first.
  init(bare seed: Seed, of origin: LegacyOrigin, survey: Survey) throws(Refusal) {
    var findings = Findings(app: seed.app, environment: seed.environment ?? .production)
    findings.seeds = [seed]
    try Refusal.checkLengths(findings)
    self.init(
      app: seed.app, appAppleID: nil, environment: findings.environment, signedAt: nil, title: "id",
      findings: findings, survey: survey, trust: origin.trust)
  }
}
