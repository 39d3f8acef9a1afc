package import JSON
import Ledger
import Rollout
import Shadow
import Signing

/// The comparison of Switchyard's responses with Apple's, for random receipts of a bulk migration.
package struct MigrationVerification: Sendable {
  package enum Outcome: String, Sendable {
    case proven
    /// Customers would have different access, and too many for the limit.
    case affected
    /// Too many had no result: their history is unknown, or their receipts could not be compared.
    case incomplete
    case tooFew
    /// Apple reports that the registered shared secret is not the app's.
    case wrongSecret
  }

  package enum Cause: String, Sendable, CaseIterable {
    /// Apple did not respond, or its response has no data about the receipt.
    case unanswered
    /// The database did not respond.
    case failed
    /// They are not proven to this process, which may lack a root of the job's.
    case unproven
    /// Their customers' history is unknown.
    case incomplete
    /// They belong to the other environment.
    case otherEnvironment
  }

  private enum WorstResult: Int, Comparable {
    case incomplete, known, affected

    static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  private let mostImpact: Double
  /// The rejected rows of the migration, of any app.
  ///
  /// They are not compared.
  private let rejected: Int
  /// The rows of the migration without a purchase, which may have no stored message.
  private let withoutPurchases: Int
  private var customers: [Digest: WorstResult] = [:]
  /// Comparisons by cause, `equal` without a difference.
  package private(set) var causes: [String: Int] = [:]
  /// Calls without a response from Apple, and the reason of the first failure.
  package private(set) var unanswered = 0
  package private(set) var failure: String?
  /// Receipts that could not be compared despite Apple's response.
  package private(set) var notCompared = 0
  /// The ones with a known reason.
  private var missing: [Cause: Int] = [:]
  private var withoutMessage = 0
  /// Whether every usable row of the app and environment was compared, so that there is no sampling error.
  package internal(set) var isWhole = false
  package internal(set) var isSecretWrong = false
  /// Whether it was stopped before its end.
  package internal(set) var isStopped = false

  init(mostImpact: Double, rejected: Int, withoutPurchases: Int) {
    (self.mostImpact, self.rejected, self.withoutPurchases) = (mostImpact, rejected, withoutPurchases)
  }

  /// - Parameter compared: `nil` for a receipt of the other environment.
  mutating func note(_ compared: ComparisonSummary?) {
    guard let compared else { return noteMissing(.otherEnvironment) }
    guard let judgement = compared.judgement, let customer = compared.customer else {
      return noteNothing(compared.outcome)
    }
    let standing: WorstResult =
      judgement.counts ? .affected : judgement.cause == ComparisonTable.incomplete ? .incomplete : .known
    note(judgement.cause, customer, standing)
  }

  /// Records a receipt without a result.
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

  /// Records contents of the migration without a message.
  mutating func noteWithoutMessage(_ count: Int) { withoutMessage += count }

  private mutating func noteMissing(_ cause: Cause?) {
    notCompared += 1
    if let cause { missing[cause, default: 0] += 1 }
  }

  private mutating func note(_ cause: String, _ customer: Digest, _ standing: WorstResult) {
    causes[cause, default: 0] += 1
    customers[customer] = max(customers[customer] ?? standing, standing)
  }

  package var asked: Int { causes.values.reduce(0, +) + notCompared + unanswered }

  /// Customers with a known history, and those with different access than by Apple's responses.
  package var known: Int { customers.values.count { $0 != .incomplete } }
  package var affected: Int { customers.values.count { $0 == .affected } }
  /// Customers with an unknown history, and thus without a result.
  package var incomplete: Int { customers.values.count { $0 == .incomplete } }

  /// The upper bound of the rate of customers with an impact, at 95% confidence.
  package var bound: Double {
    isWhole && showedNothing == 0 && known > 0
      ? Double(affected) / Double(known) : ConfidenceBound.upper(cases: affected, of: known)
  }

  /// Customers and receipts without a result, of those asked about.
  private var showedNothing: Int { incomplete + notCompared + unanswered }

  package var verdict: Outcome {
    if isSecretWrong { return .wrongSecret }
    let enough = max(known, ConfidenceBound.needed(for: mostImpact))
    if bound > mostImpact, ConfidenceBound.upper(cases: affected, of: enough) > mostImpact { return .affected }
    // Customers that differ because of an unknown history must not be excluded while equal ones count.
    let share = Double(showedNothing) / Double(max(1, known + showedNothing))
    if share > RolloutEvidence.Requirements().mostIncomplete { return .incomplete }
    return bound <= mostImpact ? .proven : .tooFew
  }

  /// Returns the number of receipts without a result for this reason.
  ///
  /// For `incomplete`, the number of customers.
  package func count(_ cause: Cause) -> Int {
    switch cause {
    case .unanswered: unanswered
    case .incomplete: incomplete
    case .failed, .unproven, .otherEnvironment: missing[cause, default: 0]
    }
  }

  /// The main reason why it is not proven.
  ///
  /// `nil` if it is proven or refuted, or without such a reason.
  package var cause: Cause? {
    switch verdict {
    case .proven, .affected, .wrongSecret: return nil
    case .incomplete, .tooFew: break
    }
    var largest: Cause?
    for cause in Cause.allCases where count(cause) > (largest.map { count($0) } ?? 0) { largest = cause }
    return largest
  }

  /// Rows whose receipts are not found because an earlier build stored them, without those that have no purchase.
  private var skipped: Int { max(0, withoutMessage - withoutPurchases) }

  /// The text for messages.
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
