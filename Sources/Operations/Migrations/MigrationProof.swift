package import JSON
import Ledger
import Rollout
import Shadow
import Signing

/// How our answers compared with Apple's, for receipts of a bulk migration that were drawn by lot.
package struct MigrationProof: Sendable {
  package enum Verdict: String, Sendable {
    case proven
    /// Customers would have other access, and they are too many to say that the limit holds.
    case affected
    /// Too many showed nothing: their history is not known, or nothing could be compared.
    case incomplete
    case tooFew
    /// Apple says that the registered shared secret is not the app's.
    case wrongSecret
  }

  /// The worst that was found of a customer.
  private enum Standing: Int, Comparable {
    case incomplete, known, affected

    static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  private let mostImpact: Double
  /// Rows of the migration, of whatever app, that were rejected: of those nothing is compared.
  private let rejected: Int
  private var customers: [Digest: Standing] = [:]
  /// Comparisons by cause, `equal` for no difference.
  package private(set) var causes: [String: Int] = [:]
  /// Calls that Apple did not answer, and why it did not the first time.
  package private(set) var unanswered = 0
  package private(set) var failure: String?
  /// Receipts of which nothing could be compared.
  package private(set) var notCompared = 0
  /// Of these, the ones that are not proven to this process: it may lack a root that the job's had.
  package private(set) var unproven = 0
  /// Whether every usable row of the app and environment was compared: then nothing is left to chance.
  package internal(set) var isWhole = false
  package internal(set) var isSecretWrong = false

  init(mostImpact: Double, rejected: Int) { (self.mostImpact, self.rejected) = (mostImpact, rejected) }

  /// - Parameter compared: nil for a receipt that belongs to the other environment.
  mutating func note(_ compared: ComparedCall?) {
    guard let judgement = compared?.judgement, let customer = compared?.customer else {
      notCompared += 1
      if compared?.outcome == .unproven { unproven += 1 }
      return
    }
    let standing: Standing =
      judgement.counts ? .affected : judgement.cause == ComparisonTable.incomplete ? .incomplete : .known
    note(judgement.cause, customer, standing)
  }

  mutating func noteUnanswered(_ reason: String) {
    unanswered += 1
    failure = failure ?? reason
  }

  private mutating func note(_ cause: String, _ customer: Digest, _ standing: Standing) {
    causes[cause, default: 0] += 1
    customers[customer] = max(customers[customer] ?? standing, standing)
  }

  /// Receipts about which Apple was asked.
  package var asked: Int { causes.values.reduce(0, +) + notCompared + unanswered }

  /// Customers whose history is known, and those of them who would have had other access than with Apple's answers.
  package var known: Int { customers.values.count { $0 != .incomplete } }
  package var affected: Int { customers.values.count { $0 == .affected } }
  /// Customers whose history is not known, so that nothing is shown of them.
  package var incomplete: Int { customers.values.count { $0 == .incomplete } }

  /// The rate of customers with an impact that is not exceeded, at 95 % confidence.
  package var bound: Double {
    isWhole && showedNothing == 0 && known > 0
      ? Double(affected) / Double(known) : RateBound.upper(cases: affected, of: known)
  }

  /// Of what was asked about.
  private var showedNothing: Int { incomplete + notCompared + unanswered }

  package var verdict: Verdict {
    if isSecretWrong { return .wrongSecret }
    let enough = max(known, RateBound.needed(for: mostImpact))
    if bound > mostImpact, RateBound.upper(cases: affected, of: enough) > mostImpact { return .affected }
    // Who differs for want of a history must not fall out while who agrees counts.
    let share = Double(showedNothing) / Double(max(1, known + showedNothing))
    if share > Evidence.Demand().mostIncomplete { return .incomplete }
    return bound <= mostImpact ? .proven : .tooFew
  }

  /// For people.
  package var text: String {
    let text = """
      \(known) customers compared, \(affected) with different access than by Apple's answers; \(incomplete) without a known \
      history, \(notCompared + unanswered) receipts without a comparison
      """
    return rejected == 0 ? text : text + "; \(rejected) rows of the migration were rejected and not compared"
  }

  package var json: JSONObject {
    [
      "customers": .integer(Int64(known)), "affected": .integer(Int64(affected)),
      "incomplete": .integer(Int64(incomplete)), "notCompared": .integer(Int64(notCompared)),
      "unanswered": .integer(Int64(unanswered)), "failure": failure.map(JSONValue.string) ?? .null,
      "impactBound": .string(RateBound.percent(bound)), "rejected": .integer(Int64(rejected)),
      "everyReceipt": .bool(isWhole && rejected == 0),
      "verdict": .string(verdict.rawValue),
      "causes": .object(JSONObject(causes.sorted { $0.key < $1.key }.map { ($0.key, .integer(Int64($0.value))) })),
    ]
  }
}
