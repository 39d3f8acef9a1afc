import JSON
import Signing

/// What fuzzing of evidence begins with: one body of each kind.
enum EvidenceSeeds {
  /// Shaped like a signed payload; the signature is in the upper half and of nothing.
  private static func jws(_ payload: JSONObject) -> String {
    let header: JSONObject = ["alg": "ES256", "x5c": [.string(String(repeating: "A", count: 240)), "BBBB", "CCCC"]]
    let signature = [UInt8](repeating: 1, count: 32) + [UInt8](repeating: 0xC0, count: 32)
    let parts = [header.encoded(), payload.encoded(), signature].map { Base64.url.encode($0) }
    return parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
  }

  private static let transaction = JSONValue.string(
    jws([
      "transactionId": "1001", "originalTransactionId": "1000", "bundleId": "com.example.fuzz",
      "environment": "Sandbox",
      "type": "Non-Consumable", "productId": "pro", "purchaseDate": 1_700_000_000_000, "signedDate": 1_700_000_000_000,
    ]))

  static func all() -> [[UInt8]] {
    let bodies: [JSONObject] = [
      ["signedTransactionInfo": transaction], ["signedRenewalInfo": transaction, "userId": "u"],
      ["signedTransactions": [transaction, transaction], "environment": "Sandbox", "bundleId": "com.example.fuzz"],
      [
        "data": [["lastTransactions": [["originalTransactionId": "1000", "signedTransactionInfo": transaction]]]],
        "environment": "Sandbox",
      ], ["signedPayload": transaction], ["receipt-data": "MIIB"], ["originalTransactionId": "1000", "userId": "u"],
      ["orderId": "MK1", "signedTransactions": [transaction]],
    ]
    return bodies.enumerated().map { [UInt8($0)] + $1.encoded() } + [[0] + Array((transaction.string ?? "").utf8)]
  }
}
