import JSON

/// Compares the App Store's truth with the ledger, fact by fact.
enum StoryTruth {
  /// Whether the lookup result agrees with a purchase or subscription of the truth.
  ///
  /// - Parameter known: the lookup result of its originalTransactionId.
  static func agrees(_ truth: JSONObject, _ known: JSONObject) -> Bool {
    if let transaction = truth["transaction"]?.object {
      return objects(known["purchases"]).contains { purchase in
        ["productId", "webOrderLineItemId", "purchaseDate", "expiresDate", "revocationDate"].allSatisfy {
          purchase[$0] == transaction[$0]
        }
      }
    }
    let renewal = truth["renewal"]?.object
    return objects(known["subscriptions"]).contains { subscription in
      subscription["status"] == truth["status"]
        && subscription["renewal"]?.object?["autoRenewStatus"] == renewal?["autoRenewStatus"]
    }
  }

  private static func objects(_ value: JSONValue?) -> [JSONObject] { (value?.array ?? []).compactMap(\.object) }
}
