import Mappings
import Purchases
import Receipts
import Time

/// Composes answers of verifyReceipt from a receipt, what is known of its customer, and a time.
///
/// Pure: nothing is asked, stored or looked up, and the same values give the same bytes. The rules are rows of
/// `answer-fields.tsv` and `answer-rules.tsv`; those of the time of the request are used.
package struct ResponseComposer: Sendable {
  package let rules: ComposerRules
  /// The latest first.
  private let eras: [ResponseSchema]

  package init(_ rules: ComposerRules) {
    self.rules = rules
    eras = ResponseSchema.all(rules)
  }

  /// An answer, and what made each of its fields.
  package struct Explained: Sendable {
    package let bytes: [UInt8]
    /// In the order of the answer.
    package let fields: [ExplainedField]
  }

  /// The answer's body, compact JSON.
  package func answer(_ request: ComposerRequest, _ facts: CustomerFacts) -> [UInt8] {
    compose(request, facts, trace: nil)
  }

  /// The same body, with the row and the origin of every field.
  package func explain(_ request: ComposerRequest, _ facts: CustomerFacts) -> Explained {
    let trace = ResponseTrace()
    let bytes = compose(request, facts, trace: trace)
    return Explained(bytes: bytes, fields: trace.fields)
  }

  private func compose(_ request: ComposerRequest, _ facts: CustomerFacts, trace: ResponseTrace?) -> [UInt8] {
    // The last era begins at the beginning of time.
    let era = eras.first { $0.begins <= request.date } ?? eras[eras.count - 1]
    switch request.receipt {
    case .app(let receipt):
      return AppReceiptResponse(request: request, receipt: receipt, facts: facts, era: era).bytes(trace)
    case .transaction(let receipt):
      return TransactionReceiptResponse(request: request, receipt: receipt, facts: facts, era: era).bytes(trace)
    }
  }
}
