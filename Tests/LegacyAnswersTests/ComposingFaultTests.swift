/// Faults of the composer, each one separately, in the responses about simulated customers.
///
/// Two judges that share no code with the composer must find a fault: Apple's responses, and the simulator's. The shadow's
/// judge must name its cause, and report an impact exactly where `AccessSeen` finds that access changes.
/// `scripts/soak faults` tries 500 customers.
@Suite(.computesForLong) struct ComposingFaultTests {
  /// The number of customers in `scripts/soak faults`; otherwise `nil`.
  private static let customers = TestSize.judgedCustomers

  /// Samples in which every situation occurs; in `scripts/soak faults` all samples.
  private static let samples: [SimulatedCase] = {
    var samples: [SimulatedCase] = []
    var seen: [SimulatedCase.Situation: Int] = [:]
    for (environment, seed) in [(AppStoreEnvironment.sandbox, UInt64(7)), (.production, 11)] {
      do {
        try SimulatedCases(customers: (customers ?? 200) / 2, in: environment, seed: seed).forEach { sample in
          guard customers != nil || sample.situations.contains(where: { seen[$0, default: 0] < 15 }) else { return }
          for situation in sample.situations { seen[situation, default: 0] += 1 }
          samples.append(sample)
        }
      } catch { preconditionFailure("no simulated customers: \(error)") }
    }
    return samples
  }()

  /// A sample with the comparison of the sound composer's response, and the access that it gives.
  private struct Known: Sendable {
    let sample: SimulatedCase
    let compared: ComparisonResult
    let access: [String: String]
  }

  /// The effects of a fault.
  private struct Outcome {
    /// Differences that the sound rules do not make.
    var added: [ComparisonResult.Difference] = []
    /// Whether Apple's or the simulator's response differs.
    var isFound = false
    /// Responses that change access.
    var affected = 0
    /// Responses that report an impact although access is the same, or do not report it.
    var misjudged: [String] = []

    var named: Int { added.count { $0.cause == .ourDefect } }
  }

  private static func isApple(_ composer: ResponseComposer) throws -> Bool {
    try RealPairs.all.allSatisfy { try RealPairs.report($0, composer)?.different.isEmpty ?? true }
  }

  private static func isSimulator(_ sample: SimulatedCase, _ body: [UInt8]) throws -> Bool {
    var comparison = SimulatedComparison()
    try comparison.add(sample, answered: body)
    return comparison.differences == 0
  }

  /// The samples with sound rules: the only differences are those that V2 does not contain.
  private func known() throws -> [Known] {
    let composer = ResponseComposer(try ComposingFault.rules(nil))
    #expect(try Self.isApple(composer))
    let known = try Self.samples.compactMap { sample -> Known? in
      guard let composed = try ComposedSample(sample, composer) else { return nil }
      #expect(try Self.isSimulator(sample, composed.body))
      return Known(
        sample: sample, compared: composed.compared,
        access: AccessSeen.access(in: composed.response, at: sample.request.date))
    }
    let differences = known.flatMap(\.compared.differences)
    #expect(!differences.isEmpty)
    #expect(known.count > 50)
    #expect(differences.filter { ![.legacyQuirk, .omission, .consumable].contains($0.cause) } == [])
    // A consumable that was bought after the receipt changes access.
    #expect(known.allSatisfy { !$0.compared.countsAgainst || $0.compared.cause == .consumable })
    return known
  }

  /// Samples up to the one that shows a dozen differences; in `scripts/soak faults` all samples.
  private static func outcome(of fault: ComposingFault, _ known: [Known]) throws -> Outcome {
    let composer = ResponseComposer(try ComposingFault.rules(fault))
    var outcome = Outcome()
    outcome.isFound = try !isApple(composer)
    for known in known where customers != nil || outcome.added.count < 12 {
      let (sample, date) = (known.sample, known.sample.request.date)
      guard let composed = try ComposedSample(sample, composer) else { continue }
      if !outcome.isFound { outcome.isFound = try !isSimulator(sample, composed.body) }
      let before = Set(known.compared.differences.map(\.field.key))
      let added = composed.compared.differences.filter { !before.contains($0.field.key) }
      outcome.added += added
      let access = AccessSeen.access(in: composed.response, at: date)
      let isAffected = AccessSeen.differs(sample.answer, composed.response, at: date)
      if isAffected, access != known.access { outcome.affected += 1 }
      if isAffected != (composed.compared.impact != nil) {
        outcome.misjudged.append("\(isAffected) \(added.prefix(2).map(\.field.key)) \(sample.situations)")
      }
    }
    return outcome
  }

  /// Faults of rules that apply to no simulated customer: responses before 2021, consumables that are not used up.
  private static let unseen = ["flat is_trial_period since=-", "Y-003 since=2015-01-01", "Y-017 reading=none"]

  @Test func `finds each fault, names nearly all causes, and reports an impact exactly where access changes`() throws {
    let known = try known()
    let faults = ComposingFault.all
    var (added, named, affected): (Int, Int, [String]) = (0, 0, [])
    var unnamed: [String] = []
    for fault in faults {
      #expect(fault.changesCell, "\(fault): no row has this cell with another value")
      let outcome = try Self.outcome(of: fault, known)
      #expect(outcome.isFound, "\(fault)")
      #expect(outcome.misjudged == [], "\(fault)")
      #expect(!outcome.added.isEmpty || Self.unseen.contains("\(fault)"), "the shadow does not see \(fault)")
      if outcome.named * 20 < outcome.added.count * 19 { unnamed.append("\(fault)") }
      (added, named) = (added + outcome.added.count, named + outcome.named)
      if outcome.affected > 0 { affected.append("\(fault): \(outcome.affected)") }
      let costsAccess = outcome.added.contains(where: \.hasImpact)
      if ["pending auto_renew_product_id", "receipt original_purchase_date"].contains(fault.row) {
        #expect(!costsAccess, "\(fault)")
      }
      if fault.row == "latest product_id" { #expect(costsAccess, "\(fault)") }
      if Self.customers != nil {
        print(
          "soak.faults.\(fault): \(outcome.added.count) differences, \(outcome.named) named, "
            + "\(outcome.affected) affected")
      }
    }
    #expect(Set(faults).count == 60)
    #expect(unnamed.count * 20 <= faults.count, "\(unnamed)")
    #expect(named * 20 >= added * 19, "\(named) of \(added)")
    #expect(!affected.isEmpty)
    #expect(affected.count < faults.count, "\(affected)")
  }
}
