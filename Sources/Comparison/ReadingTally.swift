import JSON
import LegacyAnswers
package import Mappings

/// How often Apple's real answers agreed with each reading of the rules that are open.
///
/// A comparison tells something of a rule only where its readings make different answers: then one of them may be Apple's.
package struct ReadingTally: Sendable {
  package struct Count: Hashable, Sendable {
    /// Answers in which this reading said what Apple said, and another reading did not.
    package var agreed = 0
    /// Answers in which another reading said what Apple said, and this one did not.
    package var contradicted = 0

    package init() {}
  }

  /// By the rows of `answer-rules.tsv`; only rows of rules with more than one reading at a time.
  package private(set) var counts: [String: Count] = [:]
  private let composers: [AnswerRuleTable.Rule: [(row: AnswerRuleTable.Row, composer: AnswerComposer)]]

  /// - Parameter table: this build's rules.
  package init(_ table: AnswerRuleTable = Vocabulary.embedded.answerRules) {
    var composers: [AnswerRuleTable.Rule: [(AnswerRuleTable.Row, AnswerComposer)]] = [:]
    for (rule, rows) in Dictionary(grouping: table.rows, by: \.rule)
    where rows.contains(where: { $0.standing == .open }) {
      composers[rule] = rows.compactMap { row in
        (try? ComposingRules(choosing: [row.id])).map { (row, AnswerComposer($0)) }
      }
    }
    self.composers = composers.filter { $0.value.count > 1 }
    for row in self.composers.values.joined() { counts[row.row.id] = Count() }
  }

  package mutating func add(_ pair: AnswerPair) {
    guard pair.ours["receipt"] != nil else { return }
    for (_, readings) in composers {
      let misses = readings.map { reading in
        FieldDifference.all(theirs: pair.theirs, ours: pair.recomposed(by: reading.composer).ours).count
      }
      guard let fewest = misses.min(), misses.contains(where: { $0 > fewest }) else { continue }
      for (reading, missed) in zip(readings, misses) {
        if missed == fewest { counts[reading.row.id]?.agreed += 1 } else { counts[reading.row.id]?.contradicted += 1 }
      }
    }
  }

  /// The reading that Apple's answers never contradicted and agreed with, where there is exactly one.
  package func advice(on rule: AnswerRuleTable.Rule) -> AnswerRuleTable.Row? {
    let fitting = (composers[rule] ?? []).map(\.row).filter { row in
      counts[row.id].map { $0.contradicted == 0 && $0.agreed > 0 } ?? false
    }
    return fitting.count == 1 ? fitting[0] : nil
  }
}
