/// The source of a refused message, as far as known.
///
/// Each has a separate quota, so that forgeries cannot displace messages that only wait for the registration of their
/// app.
package enum QuarantineSource: String, Sendable, CaseIterable {
  /// A proven Apple notification of an unknown app or with contradictions.
  case authentic
  /// A response that the service fetched from Apple and could not read.
  ///
  /// Separate from notifications: callers of /verifyReceipt influence the number of responses.
  case fetched
  case legacy
  /// A message that is forged, damaged, signed below an untrusted root, or not a notification.
  ///
  /// This includes a signed transaction or renewal posted as a notification: every customer has some to send.
  case unproven

  /// Whether Apple signed the message or Switchyard fetched it from Apple.
  package var isApple: Bool {
    switch self {
    case .authentic, .fetched: true
    case .legacy, .unproven: false
    }
  }
}
