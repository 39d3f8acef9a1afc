package import JSON
import Signing
import Time

/// What receipts and V1 tell of a customer.
extension CustomerState {
  /// What a receipt has: everything but consumables that the app was done with.
  package var legacyPurchases: [SimulatedReceipt.Purchase] {
    purchases.filter { $0.transaction.product.kind != .consumable || !$0.isFinished }.map(
      SimulatedReceipt.Purchase.init)
  }

  /// The same, the newest first, as `latest_receipt_info` has them.
  package var latestPurchases: [SimulatedReceipt.Purchase] {
    legacyPurchases.sorted {
      ($1.transaction.purchaseDate, $1.transactionID) < ($0.transaction.purchaseDate, $0.transactionID)
    }
  }

  /// The same in the order of `latest_receipt_info`: the latest end first, of what has none the date of purchase.
  package var latestByEnd: [SimulatedReceipt.Purchase] { Self.byEnd(legacyPurchases) }

  /// The same in the order of the years until 2020.
  package var latestByID: [SimulatedReceipt.Purchase] { legacyPurchases.sorted { $0.transactionID < $1.transactionID } }

  /// What `exclude-old-transactions` leaves: the newest of each original transaction, and nothing that is used up.
  package var newestOfEachOriginal: [SimulatedReceipt.Purchase] {
    var seen: Set<String> = []
    return Self.byEnd(
      latestPurchases.filter {
        $0.transaction.product.kind != .consumable && seen.insert($0.transaction.originalTransactionID).inserted
      })
  }

  private static func byEnd(_ purchases: [SimulatedReceipt.Purchase]) -> [SimulatedReceipt.Purchase] {
    func end(_ purchase: SimulatedReceipt.Purchase) -> Timestamp {
      purchase.transaction.expiresDate ?? purchase.transaction.purchaseDate
    }
    return purchases.sorted { (end($1), $1.transactionID) < (end($0), $0.transactionID) }
  }

  /// The newest period of each subscription, the newest first.
  package var latestPeriods: [SimulatedReceipt.Purchase] {
    var seen: Set<String> = []
    return latestPurchases.filter {
      $0.transaction.product.kind == .autoRenewable && seen.insert($0.transaction.originalTransactionID).inserted
    }
  }

  /// The receipt as it is now.
  package var receipt: SimulatedReceipt { receipt(with: legacyPurchases) }

  /// A receipt of these purchases.
  func receipt(with sold: [SimulatedReceipt.Purchase]) -> SimulatedReceipt {
    var receipt = SimulatedReceipt(of: app, purchases: [], createdAt: Timestamp(date.wholeSeconds * 1_000))
    receipt.purchases = sold
    receipt.hasOwnership = era.hasOwnership
    receipt.preorderDate = appTransaction.preorderDate
    if let licence { receipt.apply(licence) }
    receipt.applicationVersion = app.bundleVersion
    if app.environment == .production {
      receipt.originalPurchaseDate = appTransaction.originalPurchaseDate
      receipt.originalApplicationVersion = appTransaction.originalApplicationVersion
      // More than a Double can tell apart from its neighbours, as Apple's are.
      receipt.downloadID = 500_000_000_000_000_001 + (Int64(customer.appTransactionID) ?? 0) % 1_000_000_000_000_000
    } else {
      // The same for everybody in the Sandbox.
      receipt.originalPurchaseDate = Timestamp(1_375_340_400_000)
      receipt.originalApplicationVersion = "1.0"
    }
    return receipt
  }

  /// `pending_renewal_info`; one for each subscription that anything is intended with.
  package var legacyRenewals: [JSONObject] { subscriptions.compactMap(\.legacyRenewal) }
}
