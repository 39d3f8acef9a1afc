package import JSON
import Mappings
import Purchases
package import Receipts
package import Time
import Wire

/// Compares an answer of Apple's with the one that is composed from the same receipt and the V2 facts that Apple's answer
/// implies.
package struct Fidelity: Sendable {
  /// Why a pair cannot be compared.
  package enum Unusable: Error, Hashable {
    /// The answer is a status without a receipt.
    case statusAlone(Int64)
    /// The answer has neither a status nor a receipt.
    case notAnAnswer
    /// The answer is about a receipt of the other generation.
    case otherGeneration
  }

  private let composer: ResponseComposer

  package init(_ composer: ResponseComposer) { self.composer = composer }

  /// - Parameters:
  ///   - receiptData: the receipt in base64, as it was posted.
  ///   - date: of the request, where the answer of an iOS 6 receipt is dated by who knows it.
  ///   - rowName: what names rows without a line.
  package func report(
    receipt: Receipt, receiptData: String, answer: JSONObject, date: Timestamp? = nil,
    naming rowName: FlattenedResponse.RowName = .transaction
  ) throws(Unusable) -> FidelityReport {
    let theirs = VerifyReceiptResponse(answer)
    guard let status = theirs.status else { throw .notAnAnswer }
    guard answer["receipt"]?.object != nil else { throw .statusAlone(status) }
    let isApp = if case .app = receipt { true } else { false }
    guard isApp == (answer["receipt"]?.object?["in_app"] != nil) else { throw .otherGeneration }
    let implied = ImpliedFacts(theirs, receipt: receipt, date: date)
    let environment = receipt.environment ?? .sandbox
    let request = ComposerRequest(
      receipt: receipt, receiptData: receiptData, environment: environment, date: implied.date,
      excludesOldTransactions: implied.excludesOldTransactions, tellsSubscriptions: implied.tellsSubscriptions)
    let explained = composer.explain(request, implied.facts)
    var limits = JSONLimits.standard
    limits.bytes = explained.bytes.count
    guard let ours = try? JSONReader.read(explained.bytes, limits: limits).object else { throw .notAnAnswer }
    var comparison = FidelityComparison(
      theirs: answer, ours: ours, explained: explained.fields, implied: implied, receipt: receipt,
      naming: rowName, rules: { composer.rules.row($0, at: implied.date).id })
    return comparison.compared()
  }
}
