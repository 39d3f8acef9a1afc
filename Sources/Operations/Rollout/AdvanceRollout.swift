package import Database
import Ledger
package import Purchases
package import Rollout
package import Runtime
package import Time

/// Advances an app one step in one environment, if all evidence for the step is present.
package struct AdvanceRollout: Sendable {
  package struct Plan: Sendable {
    package let standing: AppRollout
    /// `nil` after the last step.
    package let step: RolloutStep?
    package let evidence: RolloutEvidence
    package let missing: [MissingEvidence]
    package let demand: RolloutEvidence.Requirements
    /// The evidence that the build requires, but not the operator's lower requirements.
    package let waived: [MissingEvidence]
    package let rule: GuardRule

    /// Whether the guard would roll the app back for an impact that the step's evidence allows.
    package var exceedsGuard: Bool { demand.mostImpact * 1_000_000 > Double(rule.mostImpact) && rule.mostImpact > 0 }

    package var isProven: Bool { missing.isEmpty }
  }

  private let bundleID: String
  private let environment: Environment
  private let demand: RolloutEvidence.Requirements
  private let share: RampPercentage?
  private let limit: RolloutStep?

  /// - Parameters:
  ///   - share: the percentage of `ramp`. `nil`: the next step.
  ///   - limit: the maximum share of customers for a step from below it.
  package init(
    _ bundleID: String, in environment: Environment, to share: RampPercentage? = nil, upTo limit: RolloutStep? = nil,
    asking demand: RolloutEvidence.Requirements = .init()
  ) {
    self.bundleID = bundleID
    self.environment = environment
    self.demand = demand
    self.share = share
    self.limit = limit
  }

  /// Returns the next step with its missing evidence.
  ///
  /// Throws `NoSuchApp`, or `StageRefused` if the share is not larger than the present one.
  package func plan(at now: Timestamp, on connection: Connection) async throws -> Plan {
    _ = try await AppRecord.find(bundleID, connection)
    let (bundleID, environment, demand) = (bundleID, environment, demand)
    let (standing, evidence, standard, rule) = try await connection.read { session throws(DatabaseError) in
      let standing = try AppRollout.all(in: session).first {
        $0.app.bundleID == bundleID && $0.flag.environment == environment
      }
      guard let standing else { throw DatabaseError(.column, "\(bundleID) has no stage in \(environment.rawValue)") }
      let evidence = try RolloutEvidence.read(standing, demand, at: now, in: session)
      let standard = try demand == .init() ? evidence : RolloutEvidence.read(standing, .init(), at: now, in: session)
      return (standing, evidence, standard, try GuardTable.rule(of: standing.scope, in: session))
    }
    let step = try step(after: standing)
    guard let step, step.needsEvidence else {
      return Plan(
        standing: standing, step: step, evidence: evidence, missing: [], demand: demand, waived: [], rule: rule)
    }
    let missing = evidence.missing(for: demand, before: step)
    let names = Set(missing.map(\.name))
    return Plan(
      standing: standing, step: step, evidence: evidence, missing: missing, demand: demand,
      waived: standard.missing(for: .init(), before: step).filter { !names.contains($0.name) }, rule: rule)
  }

  private func step(after standing: AppRollout) throws(StageRefused) -> RolloutStep? {
    let flag = standing.flag
    guard let share else { return .next(after: flag.stage, at: flag.share, upTo: limit) }
    guard flag.stage == .shadow || flag.stage == .ramp, share.hundredths > flag.share?.hundredths ?? 0 else {
      throw StageRefused(app: bundleID, environment: environment, refusal: TransitionError(.noGrowth, to: .ramp))
    }
    return RolloutStep(.ramp, share)
  }

  /// Makes the step.
  ///
  /// Throws `EvidenceMissing` if it is neither proven nor forced. The audit records a forced step, and waived evidence.
  /// It makes no change if the stage was set since the plan, since the evidence was for another stage.
  package func apply(
    _ plan: Plan, forced isForced: Bool, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws -> [SetStage.Change] {
    guard let step = plan.step else { return [] }
    guard plan.isProven || isForced else { throw EvidenceMissing(plan: plan) }
    let set = SetStage(
      step.stage, at: step.share, of: bundleID, in: environment, forced: isForced, proven: plan.isProven,
      waiving: plan.waived.map(\.name))
    let changes = [try set.change(of: plan.standing, at: now)]
    try await set.apply(changes, by: author, at: now, on: connection)
    return changes
  }
}

/// An error: the evidence for the next stage is missing.
package struct EvidenceMissing: ExitStatusError, CustomStringConvertible {
  package let plan: AdvanceRollout.Plan

  package var exitStatus: ExitStatus { .refused }
  package var description: String {
    let (app, place) = (plan.standing.app.bundleID, plan.standing.flag.environment.rawValue)
    let lines = plan.missing.map { "  \($0.text): `\($0.next(app, place))`" }
    return "\(app) \(place): evidence is missing\n" + lines.joined(separator: "\n")
  }
}
