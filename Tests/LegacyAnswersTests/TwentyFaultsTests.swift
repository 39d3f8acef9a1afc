import Comparison
import JSON
import LegacyAnswers
import Mappings
import Signing
import Simulator
import Support
import Testing
import Truth

/// Faults of the composer, each alone, in every answer about many simulated customers.
///
/// A few customers in a test, where the oftener seen faults are found; `scripts/soak faults` has 500.
@Suite(.computesForLong) struct `Twenty faults of the composer` {
  private typealias Faults = `A fault in a rule of composing`
  private typealias Judged = `A comparison of a faulty answer`

  static let faults: [`A fault in a rule of composing`.Fault] = [
    ("receipt original_purchase_date", "attribute", "12"), ("inApp transaction_id", "attribute", "1705"),
    ("inApp purchase_date", "attribute", "1706"), ("inApp expires_date", "until", "2020-01-01"),
    ("inApp is_trial_period", "attribute", "1719"), ("inApp in_app_ownership_type", "form", "text"),
    ("latest product_id", "field", "subscriptionGroupIdentifier"), ("latest transaction_id", "order", "VAR"),
    ("latest original_purchase_date", "order", "VAR"), ("latest purchase_date", "field", "originalPurchaseDate"),
    ("latest expires_date", "field", "purchaseDate"), ("latest cancellation_date", "since", "2030-01-01"),
    ("latest is_trial_period", "form", "intro"), ("latest is_upgraded", "until", "2021-01-01"),
    ("latest subscription_group_identifier", "since", "2030-01-01"),
    ("latest app_account_token", "field", "transactionId"), ("pending auto_renew_product_id", "field", "productId"),
    ("pending is_in_billing_retry_period", "form", "text"), ("Y-004", "reading", "newestOfEachSubscription"),
    ("Y-037", "reading", "active"),
  ].map { Faults.Fault(row: $0.0, column: $0.1, value: $0.2) }

  /// What a fault came to in all answers.
  private struct Outcome {
    /// Differences that the sound rules do not make, and those of them with the right cause.
    var added = 0
    var named = 0
    /// Answers that would give other access than Apple's, and than a sound composer's.
    var affected = 0
    /// Answers whose impact was reported where access is the same, or was not where it is another one.
    var misjudged: [String] = []
  }

  private static let samples: [SimulatedCase] = {
    var samples: [SimulatedCase] = []
    do {
      for (environment, seed) in [(AppStoreEnvironment.sandbox, UInt64(7)), (.production, 11)] {
        try SimulatedCases(customers: TestSize.judgedCustomers / 2, in: environment, seed: seed).forEach {
          samples.append($0)
        }
      }
    } catch { preconditionFailure("no simulated customers: \(error)") }
    return samples
  }()

  /// What a sound composer makes of a sample: the fields that differ from Apple's all the same, and the access it gives.
  private struct Sound {
    var differing: Set<String> = []
    var access: [String: String] = [:]
  }

  private static func sound(_ sample: SimulatedCase, _ composer: AnswerComposer) throws -> Sound {
    guard let (compared, ours) = try Judged.compared(sample, composer) else { return Sound() }
    return Sound(
      differing: Set(compared.differences.map(\.field.key)),
      access: AccessSeen.access(in: ours, at: sample.request.date))
  }

  @Test func `are found, named, and have an impact on exactly those whose access changes`() throws {
    let sound = AnswerComposer(try Faults.rules(nil))
    let known = try Self.samples.map { try Self.sound($0, sound) }
    var (added, named, affected): (Int, Int, [String]) = (0, 0, [])
    for fault in Self.faults {
      let outcome = try Self.outcome(of: fault, beside: known)
      #expect(outcome.misjudged == [], "\(fault)")
      // Some happen to few customers: of a hundred, everything happens to somebody.
      if TestSize.judgedCustomers >= 100 { #expect(outcome.added > 0, "\(fault) is not found") }
      (added, named) = (added + outcome.added, named + outcome.named)
      if outcome.affected > 0 { affected.append("\(fault): \(outcome.affected)") }
      if TestSize.judgedCustomers >= 100 {
        print(
          "soak.faults.\(fault): \(outcome.added) differences, \(outcome.named) named, \(outcome.affected) affected")
      }
    }
    #expect(Self.faults.count == 20 && added > 0 && named * 20 >= added * 19, "\(named) of \(added)")
    // Both kinds are there: what costs access, and what does not.
    #expect(!affected.isEmpty && affected.count < Self.faults.count, "\(affected)")
  }

  private static func outcome(of fault: Faults.Fault, beside known: [Sound]) throws -> Outcome {
    let composer = AnswerComposer(try Faults.rules(fault))
    var outcome = Outcome()
    for (sample, sound) in zip(samples, known) {
      guard let (compared, ours) = try Judged.compared(sample, composer) else { continue }
      let added = compared.differences.filter { !sound.differing.contains($0.field.key) }
      outcome.added += added.count
      outcome.named += added.count { $0.cause == .ourDefect }
      let date = sample.request.date
      let access = AccessSeen.access(in: ours, at: date)
      let isAffected = AccessSeen.access(in: sample.answer, at: date) != access
      if isAffected, access != sound.access { outcome.affected += 1 }
      if isAffected != (compared.impact != nil) {
        outcome.misjudged.append("\(isAffected) \(added.prefix(2).map(\.field.key)) \(sample.situations)")
      }
    }
    return outcome
  }
}
