package import Database
import Ledger
package import Purchases
package import Rollout
package import Runtime
package import Time

/// Takes an app one step further in one environment, if everything is found that the step has to be proven by.
package struct AdvanceRollout: Sendable {
  package struct Plan: Sendable {
    package let standing: AppRollout
    /// Nil when there is no further step.
    package let step: RolloutStep?
    package let evidence: RolloutEvidence
    package let missing: [MissingEvidence]
    package let demand: RolloutEvidence.Requirements
    /// What would be missing by the build's demands, and is not by lower ones that an operator asked for.
    package let waived: [MissingEvidence]
    package let rule: GuardRule

    /// Whether the guard would take the app back for an impact that the step is proven with.
    package var exceedsGuard: Bool { demand.mostImpact * 1_000_000 > Double(rule.mostImpact) && rule.mostImpact > 0 }

    /// Whether the step may be taken without force.
    package var isProven: Bool { missing.isEmpty }
  }

  private let bundleID: String
  private let environment: Environment
  private let demand: RolloutEvidence.Requirements
  private let share: RampPercentage?
  private let limit: RolloutStep?

  /// - Parameters:
  ///   - share: to which percentage of `ramp`; nil: to the next step.
  ///   - limit: a share of customers that no step from below it goes beyond.
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

  /// The next step and what is missing for it; `NoSuchApp` when the app is not registered, `StageRefused` when the share is
  /// not larger than the present one.
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

  /// Takes the step; `EvidenceMissing` when it is not proven and not forced.
  ///
  /// What is forced is noted in the audit, and what only lowered demands did not ask for. Nothing is changed when the stage
  /// was set since the plan, as by the guard or a kill: the evidence was that of another stage.
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

/// The next stage is not proven.
package struct EvidenceMissing: ExitStatusError, CustomStringConvertible {
  package let plan: AdvanceRollout.Plan

  package var exitStatus: ExitStatus { .refused }
  package var description: String {
    let (app, place) = (plan.standing.app.bundleID, plan.standing.flag.environment.rawValue)
    let lines = plan.missing.map { "  \($0.text): `\($0.next(app, place))`" }
    return "\(app) \(place): evidence is missing\n" + lines.joined(separator: "\n")
  }
}
