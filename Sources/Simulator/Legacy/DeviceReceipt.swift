package import Signing
import Time

/// The receipt on a customer's device, which old clients send to back ends.
package struct DeviceReceipt: Sendable {
  package enum Generation: String, Hashable, Sendable, CaseIterable {
    /// Signed with SHA-256, since 2023.
    case current
    /// Signed with SHA-1, until 2023.
    case sha1
    /// The receipt of one transaction, as in iOS 6.
    case transaction
  }

  package let state: CustomerState
  package let generation: Generation
  /// The purchases; a transaction receipt has only the newest.
  package let purchases: [SimulatedReceipt.Purchase]

  /// Returns `nil` if the customer has no purchase that a receipt holds.
  package init?(of state: CustomerState) {
    let sold = state.legacyPurchases
    guard !sold.isEmpty else { return nil }
    self.state = state
    generation =
      switch (state.id.household * 8 + state.id.member) % 23 {
      case 7, 15: .sha1
      case 11: .transaction
      default: .current
      }
    purchases = generation == .transaction ? Array(state.latestPurchases.prefix(1)) : sold
  }

  /// The distinct IDs in the receipt by which Apple's history finds all purchases.
  package var originalTransactionIDs: [String] {
    var seen: Set<String> = []
    return purchases.map(\.transaction.originalTransactionID).filter { seen.insert($0).inserted }
  }

  /// Returns the receipt in base64, as the app sends it.
  package func encoded(signedBy pki: ReceiptPKI) throws(CertificateError) -> [UInt8] {
    switch generation {
    case .current: return try state.receipt.encoded(signedBy: pki)
    case .sha1: return try state.receipt.encoded(signedBy: pki, hash: .sha1)
    case .transaction:
      guard let purchase = purchases.first else { return [] }
      return try SimulatedTransactionReceipt(purchase).encoded(signedBy: pki.transactionSigner)
    }
  }
}
