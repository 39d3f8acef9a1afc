import Signing
import Simulator
import Time

/// What the fuzzer begins with: receipts made now, by a PKI that no later process knows.
enum ReceiptSeeds {
  private static let now = Timestamp(1_767_225_600_000)

  static func all() throws -> [[UInt8]] {
    let pki = try ReceiptPKI.generate(at: now)
    var ids = IdentifierSource(environment: .sandbox, seed: 1, life: 1)
    let app = SimulatedApp(name: "", bundleID: "com.example.app", appAppleID: 1)
    let customer = Customer(name: "", storefront: .japan, appTransactionID: "1")
    let product = Product.subscription("pro", group: "1", every: .months(1), price: 1)
    let sold = SimulatedTransaction(of: product, by: customer, in: app, at: now - .days(1), ids: &ids)
    let receipt = SimulatedReceipt(of: app, purchases: [sold], createdAt: now)
    var message = SignedReceiptMessage(content: receipt.content, hash: .sha1)
    let definite = try message.signed(by: pki)
    message.isIndefinite = true
    let transaction = SimulatedTransactionReceipt(sold)
    let old = try transaction.encoded(signedBy: pki.transactionSigner)
    let text = try receipt.encoded(signedBy: pki)
    let damaged = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    return [
      [0] + definite, [0] + (try message.signed(by: pki)), [0] + text, [0] + damaged,
      [0] + Base64.standard.encode(text),
      [0] + old, [0] + (Base64.standard.decode(old) ?? []), [6] + receipt.content, [7] + transaction.purchaseInfo,
    ]
  }
}
