import Database
import Purchases
import Signing
import Time

/// A report of one or several messages about an originalTransactionId that no signed transaction confirms.
struct UnconfirmedReport: Sendable {
  let scope: AppScope
  let originalTransactionID: String
  private(set) var change: UnconfirmedChange
  /// The last purchase with a reported period or refund.
  ///
  /// One with a refund has precedence.
  private(set) var line: Line?
  private(set) var message: Digest
  private(set) var receivedAt: Timestamp
  let isKnown: Bool
  /// Whether an unsigned message reports it.
  ///
  /// Otherwise only receipts do.
  private(set) var isClaimed: Bool
  /// Whether it came from Apple's networks.
  var comesFirst = false
  private(set) var count = 1

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

  /// Returns the reports of the messages.
  ///
  /// Call it before they are written, to compare each with the earlier data. A receipt reports only about a customer
  /// with an earlier lookup. Its other IDs are seeds.
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
        // Apple did not know the ID when it was looked up too early. It is no longer a seed.
        stored.formUnion(try HistoryJobTable.givenUp(ids, in: scope, session))
      }
      for place in told.indices { told[place].leaveOutSeeds(storedAre: stored) }
      told.removeAll(where: \.isEmpty)
      guard !told.isEmpty else { continue }
      var known = try KnownStatements(of: told.flatMap(\.purchases), told.flatMap(\.renewals), in: scope, session)
      for message in messages { known.add(transactionsIn: message.findings) }
      let changes = told.map { ($0, $0.changes(beyond: known)) }
      // It was reported before, when the quota for new lookups was used up.
      let forgotten = try HistoryJobTable.unasked(
        Set(
          changes.flatMap { told, changes in
            changes.filter { $0.value.change.isEmpty }.keys.filter(told.claimed.contains)
          }
        )
        .subtracting(stored).subtracting(known.signedOriginals), in: scope, session)
      for (told, changes) in changes {
        // An ID that first appears in a verifyReceipt response is a seed, which is queued on its own.
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

  private struct Told {
    let message: InboxMessage
    /// The IDs that only its V1 body names.
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

    /// Returns, by ID, the change, the purchase of the reported period or refund, and whether unsigned data reports it.
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
