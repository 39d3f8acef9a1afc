/// In which order Apple is asked about ids of which nothing is known but that an unsigned message names them.
///
/// Anybody with the shared secret can make up such ids. A genuine V1 message about a new customer names one as well, and it
/// comes from Apple's networks.
package enum UnconfirmedIDPriority: Hashable, Sendable {
  /// The message came from Apple's networks: its ids wait with the changes of known customers.
  case first
  /// They wait behind those, without a bound: the operator vouches for the sender (a back end with a token, a replay), or it
  /// cannot be told from Apple, as behind a proxy that is not named.
  case next
  /// They wait behind those, at most so many of this message, and `HistoryJobTable.mostUnproven` of an app and environment.
  case behind(atMost: Int)

  var isOfStrangers: Bool {
    switch self {
    case .first, .next: false
    case .behind: true
    }
  }
}
