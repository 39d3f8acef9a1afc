import Signing
import Simulator
import Time

/// What the benchmarks of receipts are fed with: three purchases each, every one different, signed as Apple signs.
struct ReceiptSamples: Sendable {
  static let app = SimulatedApp(name: "Bench", bundleID: "com.example.bench", appAppleID: 1_599_000_111)

  let pki: ReceiptPKI

  init() throws { pki = try ReceiptPKI.generate(at: NotificationSamples.start) }

  /// The base64 of each, and what was signed in it.
  func generate(_ count: Int) throws -> [(text: [UInt8], content: [UInt8])] {
    let product = Product.subscription("pro.monthly", group: "1", every: .months(1), price: 4_990)
    return try (0..<count).map { number in
      var ids = IdentifierSource(environment: .sandbox, seed: 1, life: number)
      let customer = Customer(name: "", storefront: .germany, appTransactionID: ids.appTransactionID())
      var periods = (0..<3).map { month in
        SimulatedTransaction(
          of: product, by: customer, in: Self.app, at: NotificationSamples.start - .days(30 * (4 - Int64(month))),
          ids: &ids)
      }
      for index in 1..<3 { periods[index].originalTransactionID = periods[0].transactionID }
      let receipt = SimulatedReceipt(of: Self.app, purchases: periods, createdAt: NotificationSamples.start)
      return (try receipt.encoded(signedBy: pki), receipt.content)
    }
  }
}
