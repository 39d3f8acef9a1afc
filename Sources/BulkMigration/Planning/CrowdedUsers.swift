import Backfill
import Ledger

/// Users with many customers that Apple does not link: a word of the export that stands for nobody, or a shared account.
package struct CrowdedUsers: Sendable {
  private var seen = DigestTable()
  /// Of those with more than one.
  private var customers: [MigrationStep.Mark: Int] = [:]

  /// As many are more than one person's devices, Apple accounts and test accounts come to.
  private static let many = 10
  /// Users of whom customers are counted.
  private static let most = 1_000_000

  mutating func add(customerOf user: MigrationStep.Mark) {
    if seen.insert(ReceiptDigest(user.bytes)) { return }
    guard customers[user] != nil || customers.count < Self.most else { return }
    customers[user, default: 1] += 1
  }

  /// How many users there are.
  package var count: Int { customers.values.count { $0 >= Self.many } }
  /// The customers of the one who has most.
  package var largest: Int { customers.values.max() ?? 0 }
}
