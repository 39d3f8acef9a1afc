/// What was found of the things that a stage beyond `shadow` has to be proven by.
package struct Evidence: Hashable, Sendable {
  /// What is asked for; the defaults hold unless an operator says otherwise.
  package struct Demand: Hashable, Sendable {
    /// The rate of customers with an impact that must not be exceeded, at 95 % confidence.
    package var mostImpact = 0.005
    /// Of the steps to `live` and `complete`: the share of customers whose history was not known when they were compared.
    package var mostIncomplete = 0.05
    /// Days before today of which every notification must have come, or have been taken in.
    package var completeDays = 2
    package var drillDays = 30

    package init() {}

    /// Customers without a single impact that it takes.
    package var customers: Int { RateBound.needed(for: mostImpact) }
  }

  /// Ids of which Apple's history is still to be heard, and those that failed.
  package var openSeeds = 0
  package var failedSeeds = 0
  /// Ids of signed data, receipts and bulk migrations that Apple's API does not know, and that nobody has decided about.
  package var unknownIDs = 0
  /// Ids of bulk migrations that go on, about which Apple is still to be asked.
  package var migrationIDs = 0
  /// Parts of bulk migrations that go on which are not read to their end.
  package var migrationParts = 0
  /// Ids of cancelled bulk migrations about which Apple was never asked, and that nobody has decided about.
  package var cancelledIDs = 0
  /// The newest of those migrations.
  package var cancelledMigration: Int?
  /// Customers who were compared since the evidence counts, and those with an impact.
  package var customers = 0
  package var affected = 0
  /// Customers of whom a comparison shows nothing, since Apple's history of them is not known; not among `customers`.
  package var incomplete = 0
  /// In `ramp`, what was seen since the percentage was set; nil in other stages.
  package var step: StepEvidence?
  /// What the guard would take the app back for now; nil where it finds nothing, or watches nothing.
  package var breach: GuardBreach?
  /// Days before today that were measured whole, and those of them that lack something.
  package var measuredDays = 0
  package var incompleteDays = 0
  /// Whether a rollback was rehearsed lately.
  package var isDrilled = false
  package var hasAPIKey = false
  package var hasSharedSecret = false
  /// Whether this machine's clock agrees with the database's.
  package var isClockRight = true

  package init() {}

  /// The rate of customers with an impact that is not exceeded, at 95 % confidence.
  package var impactBound: Double { RateBound.upper(cases: affected, of: customers) }

  /// The share of customers of whom a comparison shows nothing.
  package var incompleteShare: Double { Double(incomplete) / Double(max(1, customers + incomplete)) }

  /// What is missing for a step, in the order in which it is best mended.
  package func missing(for demand: Demand, before step: RolloutStep? = nil) -> [MissingEvidence] {
    var missing: [MissingEvidence] = []
    if !hasAPIKey { missing.append(.apiKey) }
    if !hasSharedSecret { missing.append(.sharedSecret) }
    if !isClockRight { missing.append(.clock) }
    if openSeeds > 0 || failedSeeds > 0 { missing.append(.seeds(open: openSeeds, failed: failedSeeds)) }
    if migrationIDs > 0 || migrationParts > 0 {
      missing.append(.migrationIDs(migrationIDs, unreadParts: migrationParts))
    }
    if cancelledIDs > 0 { missing.append(.cancelledIDs(cancelledIDs, job: cancelledMigration ?? 0)) }
    if unknownIDs > 0 { missing.append(.unknownIDs(unknownIDs)) }
    if measuredDays < demand.completeDays || incompleteDays > 0 {
      missing.append(.completeness(measured: measuredDays, incomplete: incompleteDays, needed: demand.completeDays))
    }
    if impactBound > demand.mostImpact {
      missing.append(
        affected > 0 && RateBound.upper(cases: affected, of: max(customers, demand.customers)) > demand.mostImpact
          ? .impact(affected: affected, customers: customers)
          : .comparisons(customers: customers, needed: demand.customers))
    }
    if let step, step.stage >= .live, incompleteShare > demand.mostIncomplete {
      missing.append(.incomplete(incomplete, of: customers + incomplete))
    }
    if let seen = self.step, seen.verdict != .sound { missing.append(.step(seen)) }
    // The impact may be missing as that of the step already.
    if let breach, self.step?.verdict.breach?.cause != breach.cause { missing.append(.breach(breach)) }
    if !isDrilled { missing.append(.drill(days: demand.drillDays)) }
    return missing
  }
}

/// What was seen of an app at its present percentage, as the guard sees it.
package struct StepEvidence: Hashable, Sendable {
  package let rule: GuardRule
  /// Customers who were compared since the percentage was set, and those with an impact.
  package let customers: Int
  package let affected: Int

  package init(rule: GuardRule, customers: Int, affected: Int) {
    (self.rule, self.customers, self.affected) = (rule, customers, affected)
  }

  package var verdict: GuardRule.Verdict { rule.verdict(customers: customers, affected: affected) }
}

/// Something that a stage is not proven by yet.
package enum MissingEvidence: Hashable, Sendable {
  case apiKey, sharedSecret, clock
  case seeds(open: Int, failed: Int)
  case unknownIDs(Int)
  case migrationIDs(Int, unreadParts: Int)
  case cancelledIDs(Int, job: Int)
  case completeness(measured: Int, incomplete: Int, needed: Int)
  case comparisons(customers: Int, needed: Int)
  case impact(affected: Int, customers: Int)
  case incomplete(Int, of: Int)
  case step(StepEvidence)
  case breach(GuardBreach)
  case drill(days: Int)

  /// One word for programs.
  package var name: String {
    switch self {
    case .apiKey: "apiKey"
    case .sharedSecret: "sharedSecret"
    case .clock: "clock"
    case .seeds: "seeds"
    case .unknownIDs: "unknownIds"
    case .migrationIDs: "migrationIds"
    case .cancelledIDs: "cancelledMigrationIds"
    case .completeness: "completeness"
    case .comparisons: "comparisons"
    case .impact: "impact"
    case .incomplete: "incomplete"
    case .step: "step"
    case .breach: "guard"
    case .drill: "drill"
    }
  }

  /// What is missing, for people.
  package var text: String {
    switch self {
    case .apiKey: "no key of the App Store Server API is registered"
    case .sharedSecret: "no shared secret is registered, so a wrong password cannot be told from a right one"
    case .clock: "the clocks of this machine and of the database differ by more than a second"
    case .seeds(let open, let failed): "Apple's history of \(open) ids is not known yet, and of \(failed) it failed"
    case .unknownIDs(let count):
      "Apple's API does not know \(count) ids that are proven or were migrated (4040010), and nobody decided about them"
    case .migrationIDs(let count, let parts):
      "Apple is still to be asked about \(count) ids of bulk migrations, and \(parts) parts of them are not read yet"
    case .cancelledIDs(let count, let job):
      """
      Apple was never asked about \(count) ids of cancelled bulk migrations (the newest is \(job)): begin them again, or \
      accept it with `switchyard rollout decide --cancelled accept`
      """
    case .completeness(let measured, let incomplete, let needed):
      "notifications of the last \(needed) days: \(measured) days are compared with Apple's history, \(incomplete) lack some"
    case .comparisons(let customers, let needed):
      "\(customers) customers with a known history were compared; without an impact it takes \(needed)"
    case .impact(let affected, let customers):
      "\(affected) of \(customers) customers would have had other access than with Apple's answers"
    case .incomplete(let count, let customers):
      "Apple's history of \(count) of \(customers) compared customers is not known"
    case .step(let seen):
      """
      since this percentage was set \(seen.customers) customers were compared, of whom \(seen.affected) would have had other \
      access; the guard needs \(seen.rule.leastCustomers) customers, and allows \(GuardRule.percent(seen.rule.mostImpact))
      """
    case .breach(let breach): "the guard would take the app back now: \(breach.text)"
    case .drill(let days): "no rollback was rehearsed in the last \(days) days"
    }
  }

  /// The command that gets it.
  package func next(_ app: String, _ environment: String) -> String {
    switch self {
    case .apiKey: "switchyard app add \(app) --key-file FILE --key-id ID --issuer ID"
    case .sharedSecret: "switchyard app secret \(app)"
    case .clock: "switchyard doctor"
    case .seeds: "switchyard seeds show \(app) --state waiting --state failed"
    case .unknownIDs: "switchyard rollout decide \(app) --unknown accept --environment \(environment) --reason REASON"
    case .migrationIDs: "switchyard migrate list"
    case .cancelledIDs(_, let job): "switchyard migrate report \(job)"
    case .completeness: "switchyard reconcile \(app) --environment \(environment)"
    case .comparisons: "switchyard rollout watch \(app)"
    case .impact: "switchyard compare list --app \(app) --environment \(environment) --impact"
    case .incomplete: "switchyard compare list --app \(app) --environment \(environment) --cause incomplete"
    case .step(let seen):
      seen.verdict == .held
        ? "switchyard rollout guard \(app) --environment \(environment)"
        : "switchyard compare list --app \(app) --environment \(environment) --impact"
    case .breach(let breach): breach.next(app, environment).first ?? "switchyard rollout status \(app)"
    case .drill: "switchyard rollout drill \(app) --environment \(environment)"
    }
  }
}

/// The steps of a rollout, in order.
package struct RolloutStep: Hashable, Comparable, Sendable {
  package let stage: Stage
  package let share: RampShare?

  package init(_ stage: Stage, _ share: RampShare? = nil) {
    self.stage = stage
    self.share = share
  }

  /// In hundredths of a percent.
  private static let shares = [100, 500, 2_500, 5_000, 10_000]

  package static let all: [RolloutStep] =
    [Self(.legacy), Self(.record), Self(.shadow)]
    + shares.compactMap { RampShare(hundredths: $0) }.map { Self(.ramp, $0) } + [Self(.live), Self(.complete)]

  /// What comes after a stage, and after a share of customers in `ramp`; nil after `complete`.
  package static func next(after stage: Stage, at share: RampShare?) -> RolloutStep? {
    if stage == .ramp,
      let larger = all.first(where: { step in step.share.map { next in share.map { next > $0 } ?? true } ?? false })
    {
      return larger
    }
    return all.first { $0.stage > stage }
  }

  package static func < (a: Self, b: Self) -> Bool {
    a.stage == b.stage ? (a.share?.hundredths ?? 0) < (b.share?.hundredths ?? 0) : a.stage < b.stage
  }

  /// Whether the step has to be proven.
  package var needsEvidence: Bool { stage.answers != .apple }
}
