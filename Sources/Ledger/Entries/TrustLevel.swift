/// The proof of a message, from the strongest to none.
///
/// Each level has a separate queue at every destination, so that strangers' messages do not delay Apple's.
package enum TrustLevel: Int, Hashable, Sendable, CaseIterable, Comparable {
  /// Apple signed it, or Switchyard fetched it from Apple.
  case proven = 1
  /// A V1 body with the app's shared secret, which every copy of the old app carries.
  case claimed = 2
  /// A quarantined message without verification.
  case unproven = 3

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
