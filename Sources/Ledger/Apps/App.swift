package import Purchases

/// An app whose back end is being moved.
package struct App: Hashable, Sendable {
  /// Its number in this database: no identity outside of it.
  package struct ID: Hashable, Sendable, Comparable {
    package let number: Int

    package init(_ number: Int) { self.number = number }

    package static func < (a: Self, b: Self) -> Bool { a.number < b.number }
  }

  package let id: ID
  package let bundleID: String
  /// Apple's number for it in App Store Connect; must be known before Production messages are accepted.
  package let appAppleID: Int64?

  package init(id: ID, bundleID: String, appAppleID: Int64?) {
    self.id = id
    self.bundleID = bundleID
    self.appAppleID = appAppleID
  }
}

/// How far an app has moved in one environment; the order is the order of the road.
package enum Stage: String, Hashable, Sendable, CaseIterable {
  case legacy, record, shadow, ramp, live, complete
}

/// An app's stage in one environment, with the number of changes so far: writers compare it.
package struct Flag: Hashable, Sendable {
  package let environment: Environment
  package let stage: Stage
  package let epoch: Int64
}
