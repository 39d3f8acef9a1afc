import Database
import Purchases

/// The ledger's data about the purchases in some messages, before these are ingested.
///
/// It reads the messages' rows times the sources, regardless of other data.
struct KnownStatements {
  private(set) var purchases: [PurchaseKey: [PurchaseStatement]] = [:]
  private(set) var renewals: [SubscriptionKey: [RenewalStatement]] = [:]

  init(
    of purchases: [PurchaseStatement], _ renewals: [RenewalStatement], in scope: AppScope, _ session: borrowing Session
  )
    throws(DatabaseError)
  {
    guard let bundleID = (purchases.first?.key.app ?? renewals.first?.key.app) else { return }
    let names = [scope.app: bundleID]
    for keys in Set(purchases.map(\.key)).sorted().parts(of: Self.keysAtOnce) {
      let found = try PurchaseTable.latest(of: keys, in: scope, bundleIDs: names, session)
      self.purchases.merge(Dictionary(grouping: found, by: \.key)) { $0 + $1 }
    }
    for ids in Set(renewals.map(\.key.originalTransactionID)).sorted().parts() {
      let found = try RenewalTable.read(
        "WHERE \(in: scope) AND original_transaction_id IN (\(list: ids))", bundleIDs: names, in: session)
      self.renewals.merge(Dictionary(grouping: found, by: \.key)) { $0 + $1 }
    }
  }

  /// Adds the signed transactions and renewals of messages that are committed together.
  ///
  /// Not their receipts: new data in a receipt must be confirmed.
  mutating func add(transactionsIn findings: Findings) {
    for statement in findings.purchases where statement.source == .signedV2 {
      purchases[statement.key, default: []].append(statement)
    }
    for statement in findings.renewals where statement.source == .signedV2 {
      renewals[statement.key, default: []].append(statement)
    }
  }

  /// The originalTransactionIds with signed data.
  ///
  /// They are seeds, regardless of V1 bodies that name them.
  var signedOriginals: Set<String> {
    Set(purchases.filter { $0.value.contains(where: \.source.isSigned) }.keys.map(\.originalTransactionID))
      .union(renewals.filter { $0.value.contains(where: \.source.isSigned) }.keys.map(\.originalTransactionID))
  }

  func change(reportedBy statement: PurchaseStatement) -> UnconfirmedChange {
    statement.claimedChange(beyond: purchases[statement.key] ?? [])
  }

  func change(reportedBy statement: RenewalStatement) -> UnconfirmedChange {
    statement.claimedChange(beyond: renewals[statement.key] ?? [])
  }

  /// The maximum number of keys of one statement.
  ///
  /// Each is a separate range.
  private static let keysAtOnce = 128
}
