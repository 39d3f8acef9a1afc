package import JSON

extension AppStoreWorld {
  /// What a perfect back end would know now, customer by customer: JSON Lines, made one by one.
  ///
  /// - Parameter v1Only: what V1 alone could tell.
  package func truth(v1Only: Bool = false) -> some Sequence<JSONObject> {
    customers().lazy.flatMap { customer in
      let state = state(of: customer)
      return v1Only ? state.legacyTruth : state.truth
    }
  }
}
