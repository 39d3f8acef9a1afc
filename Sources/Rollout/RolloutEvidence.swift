/// What was found of the things that a stage beyond `shadow` has to be proven by.
package struct RolloutEvidence: Hashable, Sendable {
  /// What is asked for; the defaults hold unless an operator says otherwise.
  package struct Requirements: Hashable, Sendable {
    /// The rate of customers with an impact that must not be exceeded, at 95 % confidence.
    package var mostImpact = 0.005
    /// Of the steps to `live` and `complete`: the share of customers whose history was not known when they were compared.
    package var mostIncomplete = 0.05
    /// Days before today of which every notification must have come, or have been taken in.
    package var completeDays = 2

    package init() {}

    /// Customers without a single impact that it takes.
    package var customers: Int { ConfidenceBound.needed(for: mostImpact) }
  }

  /// IDs that Apple's history is not known for.
  package var ids = OpenIDs()
  /// Customers who were compared since the evidence counts, and those with an impact.
  package var customers = 0
  package var affected = 0
  /// Customers of whom a comparison shows nothing, since Apple's history of them is not known; not among `customers`.
  package var incomplete = 0
  /// In `ramp`, what was seen since the percentage was set; nil in other stages.
  package var step: GuardObservation?
  /// What the guard would take the app back for now; nil where it finds nothing, or watches nothing.
  package var breach: GuardBreach?
  /// Days before today that were measured whole, and those of them that lack something.
  package var measuredDays = 0
  package var incompleteDays = 0
  package var hasAPIKey = false
  package var hasSharedSecret = false

  package init() {}

  /// The rate of customers with an impact that is not exceeded, at 95 % confidence.
  package var impactBound: Double { ConfidenceBound.upper(cases: affected, of: customers) }

  /// The share of customers of whom a comparison shows nothing.
  package var incompleteShare: Double { Double(incomplete) / Double(max(1, customers + incomplete)) }

  /// What is missing for a step, in the order in which it is best mended.
  package func missing(for demand: Requirements, before step: RolloutStep? = nil) -> [MissingEvidence] {
    var missing: [MissingEvidence] = []
    if !hasAPIKey || !hasSharedSecret {
      missing.append(.credentials(hasAPIKey: hasAPIKey, hasSharedSecret: hasSharedSecret))
    }
    if !ids.texts.isEmpty { missing.append(.ids(ids)) }
    if measuredDays < demand.completeDays || incompleteDays > 0 {
      missing.append(.completeness(measured: measuredDays, incomplete: incompleteDays, needed: demand.completeDays))
    }
    if impactBound > demand.mostImpact {
      missing.append(
        affected > 0 && ConfidenceBound.upper(cases: affected, of: max(customers, demand.customers)) > demand.mostImpact
          ? .impact(affected: affected, customers: customers)
          : .comparisons(customers: customers, needed: demand.customers))
    }
    if let step, step.stage >= .live, incompleteShare > demand.mostIncomplete {
      missing.append(.incomplete(incomplete, of: customers + incomplete))
    }
    let unsound = self.step.flatMap { $0.verdict == .sound ? nil : $0 }
    // The step may name the same impact already.
    let other = unsound?.verdict.breach?.cause == breach?.cause ? nil : breach
    if unsound != nil || other != nil { missing.append(.guardVerdict(unsound, other)) }
    return missing
  }
}

/// What was seen of an app at its present percentage, as the guard sees it.
package struct GuardObservation: Hashable, Sendable {
  package let rule: GuardRule
  /// Customers who were compared since the percentage was set, and those with an impact.
  package let customers: Int
  package let affected: Int

  package init(rule: GuardRule, customers: Int, affected: Int) {
    (self.rule, self.customers, self.affected) = (rule, customers, affected)
  }

  package var verdict: GuardRule.Status { rule.verdict(customers: customers, affected: affected) }

  var text: String {
    """
    since this percentage was set \(customers) customers were compared; \(affected) of them would have \
    had other access; the guard needs \(rule.leastCustomers) customers, and allows \(GuardRule.percent(rule.mostImpact))
    """
  }
}

/// IDs of an app that Apple's history is not known for.
package struct OpenIDs: Hashable, Sendable {
  /// IDs that wait for Apple's history, and IDs for which asking failed.
  package var waiting = 0
  package var failed = 0
  /// IDs of running bulk migrations that Apple was not asked about, and their parts that are not read to the end.
  package var migrating = 0
  package var unreadParts = 0
  /// IDs of cancelled bulk migrations that Apple was not asked about and no operator accepted.
  package var cancelled = 0
  /// The newest of these migrations.
  package var cancelledMigration: Int?
  /// IDs of signed data, receipts and bulk migrations that Apple's API does not know and no operator accepted.
  package var unknown = 0

  package init() {}

  /// Whether only time is missing.
  var waitsOnly: Bool { failed == 0 && cancelled == 0 && unknown == 0 }

  /// What is open, for people; empty if nothing is.
  var texts: [String] {
    var texts: [String] = []
    if waiting > 0 || failed > 0 {
      texts.append("Apple's history of \(waiting) ids is not known yet, and of \(failed) it failed")
    }
    if migrating > 0 || unreadParts > 0 {
      texts.append(
        "Apple was not asked yet about \(migrating) ids of bulk migrations, and \(unreadParts) parts of them are not read yet"
      )
    }
    if cancelled > 0 {
      texts.append(
        """
        Apple was never asked about \(cancelled) ids of cancelled bulk migrations (the newest is \(cancelledMigration ?? 0)): \
        begin them again, or accept it with `switchyard rollout advance --accept-cancelled-ids`
        """)
    }
    if unknown > 0 {
      texts.append(
        "Apple's API does not know \(unknown) ids that are proven or were migrated (4040010), and no operator has decided about them"
      )
    }
    return texts
  }

  /// The command that an operator types next: first for what does not pass with time.
  func next(_ app: String, _ environment: String) -> String {
    if failed > 0 { return "switchyard seeds status \(app) --ids --state waiting --state failed" }
    if cancelled > 0 { return "switchyard migrate report \(cancelledMigration ?? 0)" }
    if unknown > 0 {
      return "switchyard rollout advance \(app) --environment \(environment) --accept-unknown-ids --reason REASON"
    }
    return waiting > 0
      ? "switchyard seeds status \(app) --ids --state waiting --state failed" : "switchyard migrate status"
  }
}

/// Something that a stage is not proven by yet.
package enum MissingEvidence: Hashable, Sendable {
  case credentials(hasAPIKey: Bool, hasSharedSecret: Bool)
  case ids(OpenIDs)
  case completeness(measured: Int, incomplete: Int, needed: Int)
  case comparisons(customers: Int, needed: Int)
  case impact(affected: Int, customers: Int)
  case incomplete(Int, of: Int)
  /// The guard has too few customers at this percentage, or finds a breach.
  case guardVerdict(GuardObservation?, GuardBreach?)

  /// One word for programs.
  package var name: String {
    switch self {
    case .credentials: "credentials"
    case .ids: "ids"
    case .completeness: "completeness"
    case .comparisons: "comparisons"
    case .impact: "impact"
    case .incomplete: "incomplete"
    case .guardVerdict: "guard"
    }
  }

  /// What is missing, for people.
  package var text: String {
    switch self {
    case .credentials(let hasAPIKey, let hasSharedSecret):
      [
        hasAPIKey ? nil : "no key of the App Store Server API is registered",
        hasSharedSecret
          ? nil : "no shared secret is registered, so a wrong password cannot be distinguished from a right one",
      ].compactMap(\.self).joined(separator: "; ")
    case .ids(let ids): ids.texts.joined(separator: "; ")
    case .completeness(let measured, let incomplete, let needed):
      "notifications of the last \(needed) days: \(measured) days are compared with Apple's history, \(incomplete) lack some"
    case .comparisons(let customers, let needed):
      "\(customers) customers with a known history were compared; without an impact it takes \(needed)"
    case .impact(let affected, let customers):
      "\(affected) of \(customers) customers would have had other access than with Apple's answers"
    case .incomplete(let count, let customers):
      "Apple's history of \(count) of \(customers) compared customers is not known"
    case .guardVerdict(let step, let breach):
      [step?.text, breach.map { "the guard would take the app back now: \($0.text)" }].compactMap(\.self).joined(
        separator: "; ")
    }
  }

  /// The command that gets it.
  package func next(_ app: String, _ environment: String) -> String {
    switch self {
    case .credentials(let hasAPIKey, _):
      hasAPIKey ? "switchyard app secret \(app)" : "switchyard app add \(app) --key-file FILE --key-id ID --issuer ID"
    case .ids(let ids): ids.next(app, environment)
    case .completeness: "switchyard reconcile \(app) --environment \(environment)"
    case .comparisons: "switchyard rollout status \(app) --watch"
    case .impact: "switchyard compare list --app \(app) --environment \(environment) --impact"
    case .incomplete: "switchyard compare list --app \(app) --environment \(environment) --cause incomplete"
    case .guardVerdict(let step, let breach):
      (breach ?? step?.verdict.breach)?.next(app, environment).first
        ?? "switchyard rollout guard \(app) --environment \(environment)"
    }
  }
}

/// The steps of a rollout, in order.
package struct RolloutStep: Hashable, Comparable, Sendable {
  package let stage: Stage
  package let share: RampPercentage?

  package init(_ stage: Stage, _ share: RampPercentage? = nil) {
    self.stage = stage
    self.share = share
  }

  /// In hundredths of a percent.
  private static let shares = [100, 500, 2_500, 5_000, 10_000]

  package static let all: [RolloutStep] =
    [Self(.legacy), Self(.record), Self(.shadow)]
    + shares.compactMap { RampPercentage(hundredths: $0) }.map { Self(.ramp, $0) } + [Self(.live), Self(.complete)]

  /// What comes after a stage, and after a share of customers in `ramp`; nil after `complete`.
  ///
  /// - Parameter limit: a share of customers that no step from below it goes beyond.
  package static func next(
    after stage: Stage, at share: RampPercentage?, upTo limit: RolloutStep? = nil
  ) -> RolloutStep? {
    let now = RolloutStep(stage, share)
    guard let next = all.first(where: { $0 > now }) else { return nil }
    guard let limit, limit.stage == .ramp, now < limit, limit < next else { return next }
    return limit
  }

  package static func < (a: Self, b: Self) -> Bool {
    a.stage == b.stage ? (a.share?.hundredths ?? 0) < (b.share?.hundredths ?? 0) : a.stage < b.stage
  }

  /// Whether the step has to be proven.
  package var needsEvidence: Bool { stage.answers != .apple }
}

extension MissingEvidence {
  /// Whether it comes by itself with time, as long as services run: nobody has to do anything for it.
  package var comesByItself: Bool {
    switch self {
    case .comparisons, .completeness(_, incomplete: 0, _): true
    case .ids(let ids): ids.waitsOnly
    case .guardVerdict(let step, let breach): breach == nil && step?.verdict.breach == nil
    case .credentials, .completeness, .impact, .incomplete: false
    }
  }
}
