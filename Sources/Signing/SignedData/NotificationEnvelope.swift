import JSON

/// What a notification says about everything inside it.
struct NotificationEnvelope {
  let bundleID: String
  let appAppleID: Int64?
  let environment: AppStoreEnvironment

  /// Refuses nested claims that say something else; what they do not say is no contradiction.
  ///
  /// Transactions of 2021 name no environment, renewals never name a bundle.
  func check(_ nested: CheckedClaims) throws(VerificationError) {
    if let seen = nested.bundleID, seen != bundleID {
      throw Self.contradiction("bundleId", quoted(seen), quoted(bundleID))
    }
    if let seen = nested.environment, seen != environment {
      throw Self.contradiction("environment", seen.rawValue, environment.rawValue)
    }
    if let seen = nested.appAppleID, let appAppleID, seen != appAppleID {
      throw Self.contradiction("appAppleId", "\(seen)", "\(appAppleID)")
    }
  }

  /// Refuses a transaction and a renewal of different subscriptions.
  static func checkNeighbours(_ transaction: JSONObject?, _ renewal: JSONObject?) throws(VerificationError) {
    let key = "originalTransactionId"
    guard let a = try transaction?.claim(string: key), let b = try renewal?.claim(string: key), a != b else { return }
    throw VerificationError(
      .contradictsEnvelope, "\(key) is \(quoted(a)) in the transaction and \(quoted(b)) in the renewal")
  }

  private static func contradiction(_ claim: String, _ seen: String, _ expected: String) -> VerificationError {
    VerificationError(.contradictsEnvelope, "\(claim) is \(seen), the notification says \(expected)")
  }
}
