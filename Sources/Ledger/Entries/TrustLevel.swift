/// What vouches for a message, from the strongest proof to none.
///
/// The three classes wait in lanes of their own at every destination, so that what anybody on the internet can send
/// never stands in the way of what Apple signed.
package enum TrustLevel: Int, Hashable, Sendable, CaseIterable, Comparable {
  /// Apple signed it, or we fetched it from Apple.
  case proven = 1
  /// A V1 body with the app's shared secret, which every copy of the old app carries.
  case claimed = 2
  /// It was set aside in quarantine: nothing vouches for it.
  case unproven = 3

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
