package import Signing
import Time

/// The receipt on a customer's device, in the generation that the device makes: what old clients send to back ends.
package struct DeviceReceipt: Sendable {
  package enum Generation: String, Hashable, Sendable, CaseIterable {
    /// Signed with SHA-256, since 2023.
    case current
    /// Signed with SHA-1, until 2023.
    case sha1
    /// Of one transaction, as iOS 6 made them.
    case transaction
  }

  package let state: CustomerState
  package let generation: Generation
  /// A transaction receipt has the newest purchase alone.
  package let purchases: [SimulatedReceipt.Purchase]

  /// Nil for who has bought nothing that a receipt holds.
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

  /// The distinct ids by which Apple's history finds everything, as the receipt has them.
  package var originalTransactionIDs: [String] {
    var seen: Set<String> = []
    return purchases.map(\.transaction.originalTransactionID).filter { seen.insert($0).inserted }
  }

  /// In base64, as the app sends it.
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
