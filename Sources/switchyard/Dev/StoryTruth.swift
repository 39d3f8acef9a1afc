import JSON

/// The App Store's truth held against what is known here, fact by fact.
enum StoryTruth {
  /// Whether a purchase or subscription of the truth is known as it is.
  ///
  /// - Parameter known: what a look-up of its originalTransactionId gave.
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
