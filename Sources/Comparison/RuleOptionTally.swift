import JSON
import LegacyAnswers
package import Mappings

/// How often Apple's real answers agreed with each reading of the rules that are open.
///
/// A comparison tells something of a rule only where its readings make different answers: then one of them may be Apple's.
package struct RuleOptionTally: Sendable {
  package struct Count: Hashable, Sendable {
    /// Answers in which this reading said what Apple said, and another reading did not.
    package private(set) var agreed = 0
    /// Answers in which another reading said what Apple said, and this one did not.
    package private(set) var contradicted = 0
    private var agreeing: Set<String> = []

    package init() {}

    /// The customers of the answers that agreed.
    package var customers: Int { agreeing.count }

    package mutating func agree(with customer: String) {
      agreed += 1
      agreeing.insert(customer)
    }

    package mutating func contradict() { contradicted += 1 }

    /// What it advises of a reading if no other one of its rule fits.
    package var advice: Advice {
      guard contradicted == 0, agreed > 0 else { return .unproven }
      return customers >= RuleOptionTally.leastCustomers ? .choose : .tooFew
    }
  }

  package enum Advice: String, Sendable {
    case choose
    /// Nothing contradicts it, but one customer's answers may agree for another reason.
    case tooFew
    /// It never agreed, or was contradicted.
    case unproven
  }

  /// Customers whose answers must agree with a reading before it is advised.
  package static let leastCustomers = 20

  /// By the rows of `answer-rules.tsv`; only rows of rules with more than one reading at a time.
  package private(set) var counts: [String: Count] = [:]
  private let composers: [ResponseRuleTable.Rule: [(row: ResponseRuleTable.Row, composer: ResponseComposer)]]

  /// - Parameter table: this build's rules.
  package init(_ table: ResponseRuleTable = Vocabulary.embedded.answerRules) {
    var composers: [ResponseRuleTable.Rule: [(ResponseRuleTable.Row, ResponseComposer)]] = [:]
    for (rule, rows) in Dictionary(grouping: table.rows, by: \.rule)
    where rows.contains(where: { $0.standing == .open }) {
      composers[rule] = rows.compactMap { row in
        (try? ComposerRules(choosing: [row.id])).map { (row, ResponseComposer($0)) }
      }
    }
    self.composers = composers.filter { $0.value.count > 1 }
    for row in self.composers.values.joined() { counts[row.row.id] = Count() }
  }

  /// - Parameter customer: as comparisons are counted: a receipt that names no account is one customer, however often Apple
  ///   signed it.
  package mutating func add(_ pair: ResponsePair, of customer: String) {
    guard pair.ours["receipt"] != nil else { return }
    for (_, readings) in composers {
      let misses = readings.map { reading in
        FieldDifference.all(theirs: pair.theirs, ours: pair.recomposed(by: reading.composer).ours).count
      }
      guard let fewest = misses.min(), misses.contains(where: { $0 > fewest }) else { continue }
      for (reading, missed) in zip(readings, misses) {
        if missed == fewest {
          counts[reading.row.id]?.agree(with: customer)
        } else {
          counts[reading.row.id]?.contradict()
        }
      }
    }
  }

  /// Whether to choose a reading: Apple's answers agreed with it, never contradicted it, and no other one of its rule is so.
  package func advice(on row: ResponseRuleTable.Row) -> Advice {
    let fitting = (composers[row.rule] ?? []).map(\.row.id).filter { id in
      counts[id].map { $0.advice != .unproven } ?? false
    }
    return fitting == [row.id] ? counts[row.id]?.advice ?? .unproven : .unproven
  }
}
