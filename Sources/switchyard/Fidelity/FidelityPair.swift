import JSON
import Receipts
import Time
import Wire

struct FidelityPair {
  struct PostedReceipt {
    let path: String
    let receipt: Receipt
    /// The posted text without white space.
    let data: String

    /// The members that a response repeats: the app and the IDs of its purchases.
    var identity: String {
      switch receipt {
      case .app(let app):
        "\(app.bundleID ?? "") \((app.transactionDate ?? app.createdAt)?.sinceEpoch ?? 0) \(app.purchases.count)"
      case .transaction(let transaction): "\(transaction.bundleID ?? "") \(transaction.transactionID ?? "")"
      }
    }
  }

  struct Answer {
    let path: String
    let json: JSONObject

    /// The response's members for comparison; `nil` without a receipt.
    var identity: String? {
      let answer = VerifyReceiptResponse(json)
      guard let receipt = answer.receipt else { return nil }
      if let rows = receipt.inApp {
        return "\(receipt.bundleID ?? "") \(receipt.receiptCreationDate?.sinceEpoch ?? 0) \(rows.count)"
      }
      return "\(receipt.bundleID ?? "") \(V1TransactionRow(receipt.json).transactionID ?? "")"
    }
  }

  let receipt: PostedReceipt
  let answer: Answer

  init(_ receipt: PostedReceipt, _ answer: Answer) {
    self.receipt = receipt
    self.answer = answer
  }

  /// Pairs each response with the receipt of the same name, otherwise with the first that has the same members.
  static func matched(_ receipts: [PostedReceipt], _ answers: [Answer]) -> [FidelityPair] {
    let byName = Dictionary(receipts.map { (stem($0.path), $0) }) { first, _ in first }
    let byIdentity = Dictionary(receipts.map { ($0.identity, $0) }) { first, _ in first }
    return answers.compactMap { answer in
      guard let identity = answer.identity else { return nil }
      return (byName[stem(answer.path)] ?? byIdentity[identity]).map { FidelityPair($0, answer) }
    }
  }

  private static func stem(_ path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    return String(name.prefix { $0 != "." })
  }
}
