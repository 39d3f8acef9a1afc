import Comparison
import JSON
import LegacyAnswers
import Mappings
import Purchases
import Support
import Testing
import Truth

/// The faults of `FaultTests`, seen as the shadow sees them: our answers beside the simulator's, each difference with its cause.
@Suite(.computesForLong) struct `A comparison of a faulty answer` {
  private typealias Faults = `A fault in a rule of composing`

  /// What the shadow says of our answer, and the answer.
  static func compared(
    _ sample: SimulatedCase, _ composer: AnswerComposer
  ) throws -> (compared: ComparedAnswers, ours: JSONObject)? {
    let request = sample.request
    var limits = JSONLimits.standard
    limits.bytes = 16 << 20
    let body = composer.answer(request, sample.facts)
    guard let ours = try JSONReader.read(body, limits: limits).object else { return nil }
    let pair = AnswerPair(
      request: AnswerPair.Request(
        receipt: request.receipt, receiptData: request.receiptData, environment: request.environment,
        excludesOldTransactions: request.excludesOldTransactions, date: request.date),
      theirs: sample.answer, ours: ours, facts: sample.facts,
      account: Set(sample.facts.transactions.compactMap { $0.facts.text(.originalTransactionId) }), isFresh: true)
    return (AnswerJudge(composer).compare(pair), ours)
  }

  /// Of each sample, with the rules as they are.
  private static let sound: [ComparedAnswers?] = {
    do {
      let composer = AnswerComposer(try Faults.rules(nil))
      return try Faults.samples.map { try compared($0, composer)?.compared }
    } catch { preconditionFailure("\(error)") }
  }()

  @Test func `finds in a sound one only what V2 cannot tell`() {
    let differences = Self.sound.compactMap(\.self).flatMap(\.differences)
    let others = differences.filter { ![.legacyQuirk, .omission, .consumable].contains($0.cause) }
    #expect(others.isEmpty, "\(others.prefix(5).map { "\($0.field.key) \($0.cause)" })")
    #expect(!differences.isEmpty && Faults.samples.count > 50)
    // Whom it would cost access: whoever bought a consumable since the receipt.
    for compared in Self.sound.compactMap(\.self) where compared.countsAgainst {
      #expect(compared.cause == .consumable)
    }
  }

  /// Faults of the rules for answers of before 2021, which no customer of today gets, and one of consumables, which the
  /// simulator's customers have all used up.
  private static let unseen = ["flat is_trial_period since=-", "Y-003 since=2015-01-01", "Y-017 reading=none"]

  /// What a fault adds to the differences, up to so many.
  private static func added(by fault: Faults.Fault, atMost most: Int) throws -> [ComparedAnswers.Difference] {
    let composer = AnswerComposer(try Faults.rules(fault))
    var added: [ComparedAnswers.Difference] = []
    for (place, sample) in Faults.samples.enumerated() where added.count < most {
      let before = Set(sound[place]?.differences.map(\.field.key) ?? [])
      added += try compared(sample, composer)?.compared.differences.filter { !before.contains($0.field.key) } ?? []
    }
    return added
  }

  /// At least 95 % of all faults have their cause named, in 95 % of what they add.
  @Test func `finds each fault, and names the cause of nearly all of them`() throws {
    var wrong: [String] = []
    for fault in Faults.faults {
      let added = try Self.added(by: fault, atMost: 12)
      #expect(!added.isEmpty || Self.unseen.contains("\(fault)"), "\(fault) is not seen")
      let named = added.count { $0.cause == .ourDefect }
      if named * 20 < added.count * 19 { wrong.append("\(fault): \(named) of \(added.count)") }
      let costsAccess = added.contains { $0.hasImpact }
      // What costs nobody access is reported, and has no impact.
      if ["pending auto_renew_product_id", "receipt original_purchase_date"].contains(fault.row) {
        #expect(!costsAccess, "\(fault)")
      }
      if fault.row == "latest product_id" { #expect(costsAccess, "\(fault)") }
    }
    #expect(wrong.count * 20 <= Faults.faults.count, "\(wrong)")
  }
}
