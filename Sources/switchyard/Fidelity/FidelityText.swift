import JSON
import LegacyAnswers
import Runtime
import Time

/// A comparison for people: one line of counts, then each difference.
struct FidelityText {
  private let pair: FidelityPair
  private let report: FidelityReport

  init(_ pair: FidelityPair, _ report: FidelityReport) {
    self.pair = pair
    self.report = report
  }

  func text(for terminal: Terminal) -> String {
    var text = "\(pair.answer.path.plain): \(report.different.isEmpty ? "SAME" : "DIFFERENT")\n"
    text += "  \(report.fields) fields: \(report.exact) exact, \(report.derived) derived, \(report.echoed) echoed, "
    text += "\(report.unavailable) unavailable, \(report.different.count) different\n"
    text += "  as of \(report.requestDate.iso8601)"
    text += report.excludesOldTransactions ? ", with exclude-old-transactions\n" : "\n"
    guard !report.different.isEmpty else { return text }
    var table = TextTable([.init("path"), .init("Apple"), .init("ours"), .init("rule")])
    for difference in report.different {
      table.add([difference.path.plain, cell(difference.theirs), cell(difference.ours), difference.rule])
    }
    return text + table.render(for: terminal)
  }

  private func cell(_ value: JSONValue?) -> String {
    guard let value else { return "-" }
    return (value.string ?? String(decoding: value.encoded(), as: UTF8.self)).plain
  }
}
