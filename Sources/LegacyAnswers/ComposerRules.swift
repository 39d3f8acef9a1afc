package import Mappings
package import Time

/// The rules that answers are composed by: the tables, and which readings of unproven rules an app chose.
package struct ComposerRules: Sendable {
  /// Why a choice of readings is refused.
  package enum ChoiceError: Error, Equatable {
    /// No row of `answer-rules.tsv` has the id.
    case unknownRow(String)
    /// Two rows of one rule were chosen.
    case twoReadings(String, String)
  }

  package let fields: ResponseFieldTable
  package let rules: ResponseRuleTable
  /// The chosen rows, by their rule; every other rule has its default.
  package let chosen: [ResponseRuleTable.Rule: ResponseRuleTable.Row]

  /// - Parameter ids: rows of `answer-rules.tsv` that hold in place of the defaults of their rules.
  package init(
    fields: ResponseFieldTable, rules: ResponseRuleTable, choosing ids: [String] = []
  ) throws(ChoiceError) {
    self.fields = fields
    self.rules = rules
    var chosen: [ResponseRuleTable.Rule: ResponseRuleTable.Row] = [:]
    for id in ids {
      guard let row = rules[id] else { throw .unknownRow(id) }
      if let other = chosen[row.rule], other.id != id { throw .twoReadings(other.id, id) }
      chosen[row.rule] = row
    }
    self.chosen = chosen
  }

  /// The tables of this build, with these readings.
  package init(choosing ids: [String]) throws(ChoiceError) {
    try self.init(fields: Vocabulary.embedded.answerFields, rules: Vocabulary.embedded.answerRules, choosing: ids)
  }

  /// The row that holds for a rule in a request of this time.
  package func row(_ rule: ResponseRuleTable.Rule, at date: Timestamp) -> ResponseRuleTable.Row {
    chosen[rule] ?? rules.standard(rule, at: date)
  }
}
