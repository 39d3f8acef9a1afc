package import JSON
import Ledger
import Rollout
import Shadow
import Signing

/// How our answers compared with Apple's, for receipts of a bulk migration that were drawn by lot.
package struct MigrationVerification: Sendable {
  package enum Outcome: String, Sendable {
    case proven
    /// Customers would have other access, and they are too many to say that the limit holds.
    case affected
    /// Too many showed nothing: their history is not known, or nothing could be compared.
    case incomplete
    case tooFew
    /// Apple says that the registered shared secret is not the app's.
    case wrongSecret
  }

  /// Why receipts showed nothing.
  package enum Cause: String, Sendable, CaseIterable {
    /// Apple did not answer, or its answer says nothing of the receipt.
    case unanswered
    /// Our database did not answer.
    case failed
    /// They are not proven to this process: it may lack a root that the job's had.
    case unproven
    /// Their customers' history is not known.
    case incomplete
    /// They belong to the other environment.
    case otherEnvironment
  }

  /// The worst that was found of a customer.
  private enum WorstResult: Int, Comparable {
    case incomplete, known, affected

    static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  private let mostImpact: Double
  /// Rows of the migration, of whatever app, that were rejected: of those nothing is compared.
  private let rejected: Int
  /// Rows of the migration without a purchase, of which no message may be stored.
  private let withoutPurchases: Int
  private var customers: [Digest: WorstResult] = [:]
  /// Comparisons by cause, `equal` for no difference.
  package private(set) var causes: [String: Int] = [:]
  /// Calls that Apple did not answer, and why it did not the first time.
  package private(set) var unanswered = 0
  package private(set) var failure: String?
  /// Receipts of which nothing could be compared although Apple answered.
  package private(set) var notCompared = 0
  /// Of these, the ones of which it is known why.
  private var missing: [Cause: Int] = [:]
  private var withoutMessage = 0
  /// Whether every usable row of the app and environment was compared: then nothing is left to chance.
  package internal(set) var isWhole = false
  package internal(set) var isSecretWrong = false
  /// Whether somebody stopped it before its end.
  package internal(set) var isStopped = false

  init(mostImpact: Double, rejected: Int, withoutPurchases: Int) {
    (self.mostImpact, self.rejected, self.withoutPurchases) = (mostImpact, rejected, withoutPurchases)
  }

  /// - Parameter compared: nil for a receipt that belongs to the other environment.
  mutating func note(_ compared: ComparisonSummary?) {
    guard let compared else { return noteMissing(.otherEnvironment) }
    guard let judgement = compared.judgement, let customer = compared.customer else {
      return noteNothing(compared.outcome)
    }
    let standing: WorstResult =
      judgement.counts ? .affected : judgement.cause == ComparisonTable.incomplete ? .incomplete : .known
    note(judgement.cause, customer, standing)
  }

  /// What became of a receipt that showed nothing.
  mutating func noteNothing(_ outcome: ShadowOutcome) {
    switch outcome {
    case .noAnswer: noteUnanswered("its answer says nothing of the receipt")
    case .failed: noteMissing(.failed)
    case .unproven: noteMissing(.unproven)
    case .compared, .repeated, .shed, .late, .namesNobody, .unknownApp, .notCompared, .learned, .tooLarge:
      noteMissing(nil)
    }
  }

  mutating func noteUnanswered(_ reason: String) {
    unanswered += 1
    failure = failure ?? reason
  }

  /// Contents of the migration of which no message is found.
  mutating func noteWithoutMessage(_ count: Int) { withoutMessage += count }

  private mutating func noteMissing(_ cause: Cause?) {
    notCompared += 1
    if let cause { missing[cause, default: 0] += 1 }
  }

  private mutating func note(_ cause: String, _ customer: Digest, _ standing: WorstResult) {
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
      ? Double(affected) / Double(known) : ConfidenceBound.upper(cases: affected, of: known)
  }

  /// Of what was asked about.
  private var showedNothing: Int { incomplete + notCompared + unanswered }

  package var verdict: Outcome {
    if isSecretWrong { return .wrongSecret }
    let enough = max(known, ConfidenceBound.needed(for: mostImpact))
    if bound > mostImpact, ConfidenceBound.upper(cases: affected, of: enough) > mostImpact { return .affected }
    // Who differs for want of a history must not fall out while who agrees counts.
    let share = Double(showedNothing) / Double(max(1, known + showedNothing))
    if share > RolloutEvidence.Requirements().mostIncomplete { return .incomplete }
    return bound <= mostImpact ? .proven : .tooFew
  }

  /// How many receipts showed nothing for this reason; of `incomplete` how many customers.
  package func count(_ cause: Cause) -> Int {
    switch cause {
    case .unanswered: unanswered
    case .incomplete: incomplete
    case .failed, .unproven, .otherEnvironment: missing[cause, default: 0]
    }
  }

  /// What kept it from being proven most; nil where it is proven or refuted, or where nothing of that kind did.
  package var cause: Cause? {
    switch verdict {
    case .proven, .affected, .wrongSecret: return nil
    case .incomplete, .tooFew: break
    }
    var largest: Cause?
    for cause in Cause.allCases where count(cause) > (largest.map { count($0) } ?? 0) { largest = cause }
    return largest
  }

  /// Rows of the migration that an earlier build stored, so that their receipts are not found; those without a purchase are
  /// left out of the count.
  private var skipped: Int { max(0, withoutMessage - withoutPurchases) }

  /// For people.
  package var text: String {
    var text = """
      \(known.counted("customer")) compared, \(affected) with different access than by Apple's answers; \
      \(incomplete) without a known history, \((notCompared + unanswered).counted("receipt")) without a comparison
      """
    if rejected > 0 { text += "; \(rejected.counted("row")) of the migration rejected and not compared" }
    if skipped > 0 {
      text += "; \(skipped.counted("row")) of the migration stored by an earlier build and not compared"
    }
    return text
  }

  package var json: JSONObject {
    let cause: JSONValue = cause.map { JSONValue.string($0.rawValue) } ?? .null
    return [
      "customers": .integer(Int64(known)), "affected": .integer(Int64(affected)),
      "incomplete": .integer(Int64(incomplete)), "notCompared": .integer(Int64(notCompared)),
      "unanswered": .integer(Int64(unanswered)), "failure": failure.map(JSONValue.string) ?? .null,
      "impactBound": .string(ConfidenceBound.percent(bound)), "rejected": .integer(Int64(rejected)),
      "skipped": .integer(Int64(skipped)), "cause": cause,
      "everyReceipt": .bool(isWhole && rejected == 0),
      "verdict": .string(verdict.rawValue),
      "causes": .object(JSONObject(causes.sorted { $0.key < $1.key }.map { ($0.key, .integer(Int64($0.value))) })),
    ]
  }
}
