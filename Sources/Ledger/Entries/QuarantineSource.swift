/// The source of a refused message, as far as known.
///
/// Separate quotas, so that forgeries cannot displace messages that wait for the registration of their app.
package enum QuarantineSource: String, Sendable, CaseIterable {
  /// A proven Apple notification of an unknown app or with contradictions.
  case authentic
  /// A response that the service fetched from Apple and could not read.
  ///
  /// A separate source, since callers of /verifyReceipt influence the number of responses.
  case fetched
  case legacy
  /// A message that is forged, damaged, signed below an untrusted root, or not a notification.
  ///
  /// This includes a signed transaction or renewal posted as a notification.
  case unproven

  /// Whether Apple signed the message or Switchyard fetched it from Apple.
  package var isApple: Bool {
    switch self {
    case .authentic, .fetched: true
    case .legacy, .unproven: false
    }
  }
}
