import JSON
import Receipts
import Signing
import Simulator
import Time

/// Receipts of any bytes: nothing stops the process, and nothing is accepted that was not signed.
///
/// The first byte chooses what the rest is: a receipt as somebody hands it in, or the content of a message, or a
/// purchase-info, under a good signature.
struct ReceiptSubject {
  static let now = Timestamp(1_767_225_600_000)
  let pki: ReceiptPKI
  let reader: ReceiptReader

  init() throws {
    pki = try ReceiptPKI.generate(at: Self.now)
    reader = ReceiptReader(trust: ReceiptTrust(exactly: [try pki.trustedRoot()]))
  }

  func check(_ input: [UInt8]) throws {
    guard let choice = input.first else { return }
    let rest = Array(input.dropFirst())
    switch choice % 8 {
    case 6: read(try SignedReceiptMessage(content: rest, hash: .sha256).signed(by: pki))
    case 7:
      var ids = IdentifierSource(environment: .sandbox, seed: 1, life: 1)
      let app = SimulatedApp(name: "", bundleID: "a", appAppleID: 1)
      let customer = Customer(name: "", storefront: .japan, appTransactionID: "1")
      let sold = SimulatedTransaction(
        of: Product(.consumable, id: "a", price: 1), by: customer, in: app, at: Self.now, ids: &ids)
      read(try SimulatedTransactionReceipt(sold).encoded(signedBy: pki.transactionSigner, info: rest))
    default:
      // The seeds were signed by keys of another process: whatever is accepted was not signed here.
      if read(rest) { preconditionFailure("accepted what nobody signed") }
    }
  }

  @discardableResult
  private func read(_ bytes: [UInt8]) -> Bool {
    let reading = reader.read(bytes)
    _ = reading.refusal?.description
    _ = reading.receipt?.originalTransactionIDs
    if case .verified = reading { return true }
    return false
  }
}
