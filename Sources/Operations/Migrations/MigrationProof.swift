package import JSON
import Ledger
import Rollout
package import Shadow
import Signing

/// How our answers compared with Apple's, for customers of a bulk migration who were drawn by lot.
package struct MigrationProof: Sendable {
  package enum Verdict: String, Sendable {
    case proven
    /// More customers would have other access than what is allowed.
    case affected
    case tooFew
  }

  /// The worst that was found of a customer.
  private enum Standing: Int, Comparable {
    case incomplete, known, affected

    static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  private let mostImpact: Double
  private var customers: [Digest: Standing] = [:]
  /// Comparisons by cause, `equal` for no difference.
  package private(set) var causes: [String: Int] = [:]
  /// Calls that Apple did not answer.
  package internal(set) var unanswered = 0
  /// Receipts of which nothing could be compared.
  package internal(set) var notCompared = 0
  /// Whether every receipt of the migration was compared: then nothing is left to chance.
  package internal(set) var isWhole = false

  init(mostImpact: Double) { self.mostImpact = mostImpact }

  mutating func note(_ compared: ComparedCall) {
    guard let judgement = compared.judgement, let customer = compared.customer else {
      notCompared += 1
      return
    }
    causes[judgement.cause, default: 0] += 1
    let standing: Standing =
      judgement.counts ? .affected : judgement.cause == ComparisonTable.incomplete ? .incomplete : .known
    customers[customer] = max(customers[customer] ?? standing, standing)
  }

  /// Receipts about which Apple was asked.
  package var asked: Int { causes.values.reduce(0, +) + notCompared + unanswered }

  /// Customers whose history is known, and those of them who would have had other access than with Apple's answers.
  package var known: Int { customers.values.count { $0 != .incomplete } }
  package var affected: Int { customers.values.count { $0 == .affected } }
  /// Customers whose history is not known yet, so that nothing is shown of them.
  package var incomplete: Int { customers.values.count { $0 == .incomplete } }

  /// The rate of customers with an impact that is not exceeded, at 95 % confidence.
  package var bound: Double {
    isWhole && unanswered + notCompared + incomplete == 0 && known > 0
      ? Double(affected) / Double(known) : RateBound.upper(cases: affected, of: known)
  }

  package var verdict: Verdict {
    if bound <= mostImpact { return .proven }
    return RateBound.upper(cases: affected, of: max(known, RateBound.needed(for: mostImpact))) > mostImpact
      ? .affected : .tooFew
  }

  /// For people.
  package var text: String {
    """
    \(known) customers compared, \(affected) with other access than by Apple's answers, \(incomplete) whose history is not \
    known, \(unanswered + notCompared) receipts without a comparison
    """
  }

  package var json: JSONObject {
    [
      "customers": .integer(Int64(known)), "affected": .integer(Int64(affected)),
      "incomplete": .integer(Int64(incomplete)), "notCompared": .integer(Int64(notCompared)),
      "unanswered": .integer(Int64(unanswered)), "impactBound": .string(RateBound.percent(bound)),
      "everyReceipt": .bool(isWhole), "verdict": .string(verdict.rawValue),
      "causes": .object(
        JSONObject(causes.sorted { $0.key < $1.key }.map { ($0.key, .integer(Int64($0.value))) })),
    ]
  }
}
