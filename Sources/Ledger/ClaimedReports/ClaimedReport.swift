import Database
import Purchases
import Signing
import Time

/// What one message, or several that are committed together, report of one originalTransactionId and nothing signed says.
struct ClaimedReport: Sendable {
  let scope: Scope
  let originalTransactionID: String
  private(set) var change: ClaimedChange
  /// The purchase of which a period or refund is reported, of several the last; one with a refund before all others.
  private(set) var line: Line?
  /// The message that reported it, of several the last received.
  private(set) var message: Digest
  private(set) var receivedAt: Milliseconds
  /// Whether Apple's history held the id when it was last asked.
  let isKnown: Bool
  /// Whether it came from Apple's networks.
  var comesFirst = false
  /// How many messages reported it.
  private(set) var count = 1

  /// The queue of its look-up.
  var kind: WorkTable.Kind { isKnown || comesFirst ? .claimedChange : .claimedID }

  func merged(with other: Self) -> Self {
    var merged = self
    if other.change.contains(.refund) || !change.contains(.refund) { merged.line = other.line ?? line }
    merged.change.formUnion(other.change)
    merged.count += other.count
    merged.comesFirst = comesFirst || other.comesFirst
    if other.receivedAt > receivedAt { (merged.message, merged.receivedAt) = (other.message, other.receivedAt) }
    return merged
  }

  /// What the messages report; to be called before they are written, so that each is compared with what came before it.
  static func all(
    in messages: [(message: InboxMessage, app: App.ID, findings: Findings)], _ session: borrowing Session
  ) throws(DatabaseError) -> [Self] {
    let byScope = Dictionary(grouping: messages) { Scope(app: $0.app, environment: $0.findings.environment) }
    var reports: [Self] = []
    for (scope, messages) in byScope.sorted(by: { $0.key < $1.key }) {
      let claims = messages.map { (purchases: $0.findings.claimedPurchases, renewals: $0.findings.claimedRenewals) }
      let (purchases, renewals) = (claims.flatMap(\.purchases), claims.flatMap(\.renewals))
      guard !purchases.isEmpty || !renewals.isEmpty else { continue }
      var known = try KnownStatements(of: purchases, renewals, in: scope, session)
      for message in messages { known.add(signedIn: message.findings) }
      let changes = zip(messages, claims).map { message, claims in
        var changes: [String: (change: ClaimedChange, line: Line?)] = [:]
        for statement in claims.purchases {
          let (id, change) = (statement.key.originalTransactionID, known.change(reportedBy: statement))
          var all = changes[id] ?? ([], nil)
          if change.contains(.refund) || !change.isEmpty && !all.change.contains(.refund) {
            all.line = statement.key.line
          }
          all.change.formUnion(change)
          changes[id] = all
        }
        for statement in claims.renewals {
          changes[statement.key.originalTransactionID, default: ([], nil)].change
            .formUnion(known.change(reportedBy: statement))
        }
        return (message: message, changes: changes)
      }
      var stored: Set<String> = []
      for ids in Set(changes.flatMap(\.changes.keys)).sorted().parts() {
        stored.formUnion(try HistoryTable.stored(Set(ids), in: scope, session))
      }
      // Heard before, but there was no room to ask about it then.
      let forgotten = try WorkTable.unasked(
        Set(
          changes.flatMap { message, changes in
            changes.filter { $0.value.change.isEmpty }.keys.filter(message.findings.claimedOriginals.contains)
          }
        ).subtracting(stored).subtracting(known.signedOriginals), in: scope, session)
      for (message, changes) in changes {
        // An id that an answer of verifyReceipt brings for the first time is a seed, and work by that.
        let claimed = message.findings.claimedOriginals
        for (id, (known, line)) in changes where stored.contains(id) || claimed.contains(id) {
          let change = known.isEmpty && forgotten.contains(id) ? .period : known
          if change.isEmpty { continue }
          reports.append(
            Self(
              scope: scope, originalTransactionID: id, change: change, line: line, message: message.message.digest,
              receivedAt: message.message.receivedAt, isKnown: stored.contains(id)))
        }
      }
    }
    return reports
  }
}
