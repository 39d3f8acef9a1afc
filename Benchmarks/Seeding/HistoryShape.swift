import AppStore
import Simulator

/// Customers of one app who are all alike: what each has bought, and how often Apple is asked about one of them.
struct HistoryShape: Sendable {
  let name: String
  /// An app of its own, so that its customers are asked about when its key is there and not before.
  let plan: AppPlan
  let subscription: String
  /// Charges of the subscription; beside it each customer has bought two things once: three originalTransactionIds.
  let charges: Int

  /// 98 weeks of a subscription and two single purchases: five pages.
  static let hundred = Self(
    name: "hundred", plan: .sample("com.example.hundred", appAppleID: 1_600_000_001), subscription: "lite.weekly",
    charges: 98)
  /// Three months of a subscription and two single purchases: one page.
  static let five = Self(
    name: "five", plan: .sample("com.example.five", appAppleID: 1_600_000_002), subscription: "news.monthly",
    charges: 3)

  var bundleID: String { plan.app.bundleID }
  var transactions: Int { charges + 2 }
  /// Pages of history, and once the statuses of the subscription.
  var calls: Int { (transactions + 19) / 20 + 1 }
}

/// Customers of a shape, and what has to be in the ledger when all of them have been asked about.
struct HistoryCustomers: Sendable {
  let shape: HistoryShape
  /// The originalTransactionIds of each, as a receipt has them.
  let originals: [[String]]
  let transactionIDs: Set<String>
  /// What each bought.
  let purchases: [[SimulatedTransaction]]

  /// Everybody of the shape's app in the world.
  init(_ shape: HistoryShape, in world: AppStoreWorld) throws {
    self.shape = shape
    var (originals, transactionIDs): ([[String]], Set<String>) = ([], [])
    var all: [[SimulatedTransaction]] = []
    for customer in world.customers(of: shape.bundleID) {
      let purchases = world.transactions(of: customer).map(\.transaction)
      guard purchases.count == shape.transactions else {
        throw BenchmarkError("a customer of \(shape.name) has \(purchases.count) transactions")
      }
      all.append(purchases)
      originals.append(Set(purchases.map(\.originalTransactionID)).sorted())
      transactionIDs.formUnion(purchases.map(\.transactionID))
    }
    (self.originals, self.transactionIDs, self.purchases) = (originals, transactionIDs, all)
  }

  private init(
    _ shape: HistoryShape, originals: [[String]], transactionIDs: Set<String>, purchases: [[SimulatedTransaction]]
  ) {
    self.shape = shape
    self.originals = originals
    self.transactionIDs = transactionIDs
    self.purchases = purchases
  }

  /// So many of them, or all.
  func first(_ count: Int) -> Self {
    let purchases = Array(purchases.prefix(count))
    return Self(
      shape, originals: Array(originals.prefix(count)),
      transactionIDs: Set(purchases.joined().map(\.transactionID)), purchases: purchases)
  }

  var count: Int { originals.count }
  var transactions: Int { count * shape.transactions }
}
