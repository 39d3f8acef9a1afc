import Backfill
import Ledger

/// Users with many customers that Apple does not link: a word of the export that stands for nobody, or a shared account.
package struct CrowdedUsers: Sendable {
  private var seen = DigestTable()
  /// Of those with more than one.
  private var customers: [MigrationStep.Mark: (receipts: Int, others: Int)] = [:]

  /// As many receipts are more than one person's devices, Apple accounts and test accounts come to.
  private static let manyReceipts = 10
  /// Of ids and signed transactions each may be a consumable of one and the same customer.
  private static let manyOthers = 100
  /// Users of whom customers are counted.
  private static let most = 1_000_000

  /// - Parameter isReceipt: whether it tells of all that the customer bought.
  mutating func add(customerOf user: MigrationStep.Mark, isReceipt: Bool) {
    guard !seen.insert(ReceiptDigest(user.bytes)), customers[user] != nil || customers.count < Self.most else { return }
    // The first one is counted with the second.
    var told = customers[user] ?? (isReceipt ? 1 : 0, isReceipt ? 0 : 1)
    if isReceipt { told.receipts += 1 } else { told.others += 1 }
    customers[user] = told
  }

  /// How many users there are.
  package var count: Int { crowded.count }
  /// The customers of the one who has most.
  package var largest: Int { crowded.map { $0.receipts + $0.others }.max() ?? 0 }

  private var crowded: [(receipts: Int, others: Int)] {
    customers.values.filter { $0.receipts >= Self.manyReceipts || $0.others >= Self.manyOthers }
  }
}
