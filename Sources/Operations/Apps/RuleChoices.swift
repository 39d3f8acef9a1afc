import LegacyAnswers
import Mappings
package import Runtime

/// The rows for unproven composing rules that an app chooses instead of the defaults.
package struct RuleChoices: Hashable, Sendable {
  package static let defaults = RuleChoices()

  /// Rows of `answer-rules.tsv`, in order.
  ///
  /// Empty: the defaults.
  package let ids: [String]

  private init() { ids = [] }

  /// Throws for unknown rows, rows of proven rules, and two rows of one rule.
  package init(_ ids: [String]) throws(AnswerReadingRefused) {
    let rules: ComposerRules
    do throws(ComposerRules.ChoiceError) { rules = try ComposerRules(choosing: ids) } catch {
      switch error {
      case .unknownRow(let id): throw AnswerReadingRefused("no rule of answers has the id \(id.prefix(20))")
      case .twoReadings(let one, let other):
        throw AnswerReadingRefused("\(one) and \(other) are readings of the same rule; choose one of them")
      }
    }
    for row in rules.chosen.values.sorted(by: { $0.id < $1.id })
    where !rules.rules.rows.contains(where: { $0.rule == row.rule && $0.standing == .open }) {
      throw AnswerReadingRefused("\(row.id) is a reading of \(row.rule.rawValue), which is proven: it has no other")
    }
    self.ids = Set(ids).sorted()
  }

  package var summary: String { Self.summary(ids) }

  static func summary(_ ids: [String]) -> String { ids.isEmpty ? "default" : ids.joined(separator: ", ") }
}

package struct AnswerReadingRefused: ExitStatusError, CustomStringConvertible {
  private let reason: String

  init(_ reason: String) { self.reason = reason }

  package var exitStatus: ExitStatus { .usage }
  package var description: String { "\(reason); see `switchyard mappings show answer-rules`" }
}
