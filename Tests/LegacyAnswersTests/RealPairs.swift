/// Receipts beside the answers that Apple gave to them.
enum RealPairs {
  struct Pair: Sendable, CustomStringConvertible {
    let receipt: String
    let answer: String
    /// Rows of `in_app` and `latest_receipt_info`.
    let rows: (inApp: Int, latest: Int)
    var description: String { answer }
  }

  static let all = [
    Pair(receipt: "mbaasy_unified_sandbox_2015", answer: "mbaasy_unified", rows: (7, 35)),
    Pair(receipt: "revenuecat_sandbox_sampleapp", answer: "revenuecat_sandbox_sampleapp", rows: (9, 9)),
    Pair(receipt: "ios6_mbaasy_yearly_2015", answer: "mbaasy_ios6_subscription", rows: (0, 1)),
    Pair(receipt: "ios6_mbaasy_yearly_2015", answer: "mbaasy_ios6_expired_21006", rows: (0, 1)),
  ]

  static func receipt(_ pair: Pair) -> (receipt: Receipt, data: String)? {
    guard let bytes = Samples.bytes("receipts/\(pair.receipt).b64"),
      let receipt = ReceiptReader().read(bytes).receipt
    else { return nil }
    return (receipt, String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self))
  }

  static func answer(_ pair: Pair) -> JSONObject? {
    Samples.bytes("verify_receipt/\(pair.answer).json").flatMap { try? JSONReader.read($0).object }
  }

  static func report(_ pair: Pair, _ composer: ResponseComposer) throws -> FidelityReport? {
    guard let (receipt, data) = receipt(pair), let answer = answer(pair) else { return nil }
    return try Fidelity(composer).report(receipt: receipt, receiptData: data, answer: answer)
  }
}
