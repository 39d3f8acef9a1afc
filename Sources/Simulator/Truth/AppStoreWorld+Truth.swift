package import JSON

extension AppStoreWorld {
  /// Returns the data of a perfect back end now, customer by customer, as JSON Lines made one at a time.
  ///
  /// - Parameter v1Only: limits the data to V1's.
  package func truth(v1Only: Bool = false) -> some Sequence<JSONObject> {
    customers().lazy.flatMap { customer in
      let state = state(of: customer)
      return v1Only ? state.legacyTruth : state.truth
    }
  }
}
