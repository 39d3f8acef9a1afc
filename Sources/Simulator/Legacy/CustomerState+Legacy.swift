package import JSON
import Signing
import Time

/// A customer's data in receipts and V1.
extension CustomerState {
  /// The purchases in a receipt: all except finished consumables.
  package var legacyPurchases: [SimulatedReceipt.Purchase] {
    purchases.filter { $0.transaction.product.kind != .consumable || !$0.isFinished }.map(
      SimulatedReceipt.Purchase.init)
  }

  /// The purchases in the order of `latest_receipt_info`, newest first.
  package var latestPurchases: [SimulatedReceipt.Purchase] {
    legacyPurchases.sorted {
      ($1.transaction.purchaseDate, $1.transactionID) < ($0.transaction.purchaseDate, $0.transactionID)
    }
  }

  /// The purchases in the order of `latest_receipt_info`: latest end first, or purchase date without an end.
  package var latestByEnd: [SimulatedReceipt.Purchase] { Self.byEnd(legacyPurchases) }

  /// The purchases in the order until 2020.
  package var latestByID: [SimulatedReceipt.Purchase] { legacyPurchases.sorted { $0.transactionID < $1.transactionID } }

  /// The purchases that `exclude-old-transactions` keeps: the newest of each original transaction, without used-up
  /// ones.
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

  /// The newest period of each subscription, newest first.
  package var latestPeriods: [SimulatedReceipt.Purchase] {
    var seen: Set<String> = []
    return latestPurchases.filter {
      $0.transaction.product.kind == .autoRenewable && seen.insert($0.transaction.originalTransactionID).inserted
    }
  }

  package var receipt: SimulatedReceipt { receipt(with: legacyPurchases) }

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
      // As at Apple, a Double cannot hold this number exactly.
      receipt.downloadID = 500_000_000_000_000_001 + (Int64(customer.appTransactionID) ?? 0) % 1_000_000_000_000_000
    } else {
      // The Sandbox uses this date for every customer.
      receipt.originalPurchaseDate = Timestamp(1_375_340_400_000)
      receipt.originalApplicationVersion = "1.0"
    }
    return receipt
  }

  /// `pending_renewal_info`, with one entry for each subscription that has a renewal intent.
  package var legacyRenewals: [JSONObject] { subscriptions.compactMap(\.legacyRenewal) }
}
