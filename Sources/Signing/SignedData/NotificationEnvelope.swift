import JSON

/// The claims of a notification about its nested data.
struct NotificationEnvelope {
  let bundleID: String
  let appAppleID: Int64?
  let environment: AppStoreEnvironment

  /// Throws for nested claims that differ; a missing claim is not a contradiction.
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

  /// Throws for a transaction and a renewal of different subscriptions.
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
