package struct App: Hashable, Sendable {
  /// The app's number in this database.
  package struct ID: Hashable, Sendable, Comparable {
    package let number: Int

    package init(_ number: Int) { self.number = number }

    package static func < (a: Self, b: Self) -> Bool { a.number < b.number }
  }

  package let id: ID
  package let bundleID: String
  /// Apple's number for the app in App Store Connect, required before Production messages are accepted.
  package let appAppleID: Int64?

  package init(id: ID, bundleID: String, appAppleID: Int64?) {
    self.id = id
    self.bundleID = bundleID
    self.appAppleID = appAppleID
  }
}
