import Database
import Purchases
import Signing
import Time

/// What one message, or several that are committed together, report of one originalTransactionId and no signed transaction
/// says.
struct UnconfirmedReport: Sendable {
  let scope: AppScope
  let originalTransactionID: String
  private(set) var change: UnconfirmedChange
  /// The purchase of which a period or refund is reported, of several the last; one with a refund before all others.
  private(set) var line: Line?
  /// The message that reported it, of several the last received.
  private(set) var message: Digest
  private(set) var receivedAt: Timestamp
  /// Whether Apple was asked about the id before, as about a customer.
  let isKnown: Bool
  /// Whether anything unsigned reports it; else receipts alone do.
  private(set) var isClaimed: Bool
  /// Whether it came from Apple's networks.
  var comesFirst = false
  /// How many messages reported it.
  private(set) var count = 1

  /// The queue of its look-up.
  var kind: HistoryJobTable.Kind { isKnown || comesFirst ? .claimedChange : .claimedID }

  func merged(with other: Self) -> Self {
    var merged = self
    if other.change.contains(.refund) || !change.contains(.refund) { merged.line = other.line ?? line }
    merged.change.formUnion(other.change)
    merged.count += other.count
    merged.comesFirst = comesFirst || other.comesFirst
    merged.isClaimed = isClaimed || other.isClaimed
    if other.receivedAt > receivedAt { (merged.message, merged.receivedAt) = (other.message, other.receivedAt) }
    return merged
  }

  /// What the messages report; to be called before they are written, so that each is compared with what came before it.
  ///
  /// A receipt reports only of a customer who was asked about: every other of its ids is a seed.
  static func all(
    in messages: [(message: InboxMessage, app: App.ID, findings: Findings)], _ session: borrowing Session
  ) throws(DatabaseError) -> [Self] {
    let byScope = Dictionary(grouping: messages) { AppScope(app: $0.app, environment: $0.findings.environment) }
    var reports: [Self] = []
    for (scope, messages) in byScope.sorted(by: { $0.key < $1.key }) {
      var told = messages.map { Told($0.message, $0.findings) }.filter { !$0.isEmpty }
      var stored: Set<String> = []
      for ids in Set(told.flatMap(\.ids)).sorted().parts() {
        stored.formUnion(try HistoryTable.stored(Set(ids), in: scope, session))
        // Asked too early, Apple knew no such id: it is no seed any more.
        stored.formUnion(try HistoryJobTable.givenUp(ids, in: scope, session))
      }
      for place in told.indices { told[place].leaveOutSeeds(storedAre: stored) }
      told.removeAll(where: \.isEmpty)
      guard !told.isEmpty else { continue }
      var known = try KnownStatements(of: told.flatMap(\.purchases), told.flatMap(\.renewals), in: scope, session)
      for message in messages { known.add(transactionsIn: message.findings) }
      let changes = told.map { ($0, $0.changes(beyond: known)) }
      // Heard before, but there was no room to ask about it then.
      let forgotten = try HistoryJobTable.unasked(
        Set(
          changes.flatMap { told, changes in
            changes.filter { $0.value.change.isEmpty }.keys.filter(told.claimed.contains)
          }
        )
        .subtracting(stored).subtracting(known.signedOriginals), in: scope, session)
      for (told, changes) in changes {
        // An id that an answer of verifyReceipt brings for the first time is a seed, and work by that.
        for (id, (known, line, isClaimed)) in changes where stored.contains(id) || told.claimed.contains(id) {
          let change = known.isEmpty && forgotten.contains(id) ? .period : known
          if change.isEmpty { continue }
          reports.append(
            Self(
              scope: scope, originalTransactionID: id, change: change, line: line, message: told.message.digest,
              receivedAt: told.message.receivedAt, isKnown: stored.contains(id),
              isClaimed: isClaimed || told.claimed.contains(id)))
        }
      }
    }
    return reports
  }

  /// What one message tells that Apple has not signed as a transaction.
  private struct Told {
    let message: InboxMessage
    /// The ids that only its V1 body vouches for.
    let claimed: Set<String>
    private(set) var purchases: [PurchaseStatement]
    let renewals: [RenewalStatement]
    private let events: [String: UnconfirmedChange]
    private let refunds: Set<String>

    init(_ message: InboxMessage, _ findings: Findings) {
      self.message = message
      claimed = findings.claimedOriginals
      purchases = findings.purchasesToConfirm
      renewals = findings.claimedRenewals
      events = findings.eventsWithoutRow
      refunds = findings.refundsWithRow
    }

    var isEmpty: Bool { purchases.isEmpty && renewals.isEmpty && events.isEmpty }

    var ids: [String] {
      purchases.map(\.key.originalTransactionID) + renewals.map(\.key.originalTransactionID) + events.keys
    }

    mutating func leaveOutSeeds(storedAre stored: Set<String>) {
      purchases.removeAll { $0.source.isSigned && !stored.contains($0.key.originalTransactionID) }
    }

    /// By id: what changed, the purchase of which a period or refund is told, and whether anything unsigned tells it.
    func changes(
      beyond known: KnownStatements
    ) -> [String: (change: UnconfirmedChange, line: Line?, isClaimed: Bool)] {
      var changes = events.mapValues { (change: $0, line: Line?.none, isClaimed: true) }
      for statement in purchases {
        let (id, change) = (statement.key.originalTransactionID, known.change(reportedBy: statement))
        var all = changes[id] ?? ([], nil, false)
        if change.contains(.refund) || !change.isEmpty && !all.change.contains(.refund) {
          all.line = statement.key.line
        }
        all.change.formUnion(change)
        if !change.isEmpty, statement.source.isClaimed { all.isClaimed = true }
        changes[id] = all
      }
      for statement in renewals {
        var all = changes[statement.key.originalTransactionID] ?? ([], nil, false)
        let change = known.change(reportedBy: statement)
        all.change.formUnion(change)
        if !change.isEmpty { all.isClaimed = true }
        changes[statement.key.originalTransactionID] = all
      }
      for id in refunds where changes[id]?.change.contains(.refund) != true {
        changes[id, default: ([], nil, false)].change.formUnion([.refund, .refundWithoutRow])
        changes[id]?.isClaimed = true
      }
      return changes
    }
  }
}
