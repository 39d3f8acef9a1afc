/// Whose fault a refusal is, as far as can be told.
///
/// Each has a quota of its own, so that forgeries cannot crowd out messages that only wait for their app to be registered.
package enum QuarantineSource: String, Sendable, CaseIterable {
  /// A notification proven to be Apple's, but of no app we know or with contradictions.
  case authentic
  /// An answer that this service fetched from Apple itself and could not read.
  ///
  /// Apart from notifications: whoever calls /verifyReceipt has a say in how many answers there are.
  case fetched
  /// A V1 body: no signature to prove anything by.
  case legacy
  /// Neither: forged, damaged, signed below a root we do not trust, or no notification at all.
  ///
  /// A signed transaction or renewal posted as a notification too: every customer has some to send.
  case unproven

  /// Whether Apple said it: signed by it, or fetched from it.
  package var isApple: Bool {
    switch self {
    case .authentic, .fetched: true
    case .legacy, .unproven: false
    }
  }
}
