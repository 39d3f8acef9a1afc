/// The order of lookups of IDs that only unsigned messages name.
///
/// Strangers can invent such IDs. A genuine V1 message about a new customer also names one, and comes from Apple's
/// networks.
package enum UnconfirmedIDPriority: Hashable, Sendable {
  /// The message came from Apple's networks: its IDs wait with the changes of known customers.
  case first
  /// They wait behind those, without a limit.
  ///
  /// The operator trusts the sender, or the sender may be Apple, as behind an unnamed proxy.
  case next
  /// They wait behind those, with this limit for the message, and `HistoryJobTable.mostUnproven` for an app and
  /// environment.
  case behind(atMost: Int)

  var isOfStrangers: Bool {
    switch self {
    case .first, .next: false
    case .behind: true
    }
  }
}
