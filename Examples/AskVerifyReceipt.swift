import AppStore
import JSON

/// Asks Apple's verifyReceipt where the receipt belongs: the products that it tells of, or what to do next.
func askVerifyReceipt(_ receipt: String, secret: String, at hosts: AppStoreHosts? = nil) async -> [String] {
  let client = AppStoreClient(hosts: hosts)
  let products: [String]
  do throws(APIError) {
    let request = ReceiptRequest(receiptData: receipt, password: secret, excludeOldTransactions: true)
    let answer = try await client.verifyReceipt(request)
    let rows = answer.json["latest_receipt_info"]?.array ?? []
    products = rows.compactMap { $0.object?["product_id"]?.string }
  } catch {
    products = ["\(error.code): \(error.nextStep)"]
  }
  await client.end()
  return products
}
