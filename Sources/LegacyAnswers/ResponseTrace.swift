package import Mappings

/// A field of a composed answer: where it stands, and what made it.
package struct ExplainedField: Hashable, Sendable {
  /// `latest_receipt_info[3].expires_date_ms`.
  package let path: String
  /// The row of `answer-fields.tsv` or `answer-rules.tsv`.
  package let rule: String
  package let origin: ResponseFieldTable.Origin
}

/// Notes what makes each field while an answer is written; without one nothing is noted, and nothing is paid for it.
final class ResponseTrace {
  private(set) var fields: [ExplainedField] = []
  private var path: [String] = []

  func enter(_ name: String) { path.append(name) }
  func leave() { path.removeLast() }

  func note(_ key: String, _ rule: String, _ origin: ResponseFieldTable.Origin) {
    fields.append(ExplainedField(path: (path + [key]).joined(separator: "."), rule: rule, origin: origin))
  }
}
