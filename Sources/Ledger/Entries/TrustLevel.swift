/// The proof of a message, from the strongest to none.
///
/// The three levels have separate queues at every destination, so that messages which any client can send do not delay
/// Apple's signed ones.
package enum TrustLevel: Int, Hashable, Sendable, CaseIterable, Comparable {
  /// Apple signed it, or Switchyard fetched it from Apple.
  case proven = 1
  /// A V1 body with the app's shared secret, which every copy of the old app carries.
  case claimed = 2
  /// A quarantined message without verification.
  case unproven = 3

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
