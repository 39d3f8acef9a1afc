import LegacyAnswers
import Mappings
package import Runtime

/// The readings of unproven composing rules that an app chooses in place of the defaults.
package struct RuleChoices: Hashable, Sendable {
  /// Every rule as its default says.
  package static let defaults = RuleChoices()

  /// Rows of `answer-rules.tsv`, in order; empty: the defaults.
  package let ids: [String]

  private init() { ids = [] }

  /// Refuses rows that do not exist, rows of rules that are proven, and two rows of one rule.
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

  /// What is chosen, in a few words.
  package var summary: String { Self.summary(ids) }

  static func summary(_ ids: [String]) -> String { ids.isEmpty ? "default" : ids.joined(separator: ", ") }
}

/// A choice of readings that cannot be made.
package struct AnswerReadingRefused: ExitStatusError, CustomStringConvertible {
  private let reason: String

  init(_ reason: String) { self.reason = reason }

  package var exitStatus: ExitStatus { .usage }
  package var description: String { "\(reason); see `switchyard mappings show answer-rules`" }
}
