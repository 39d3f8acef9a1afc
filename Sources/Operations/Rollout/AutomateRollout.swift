package import Database
package import Ledger
package import Purchases
package import Rollout
package import Runtime
import Shadow
package import Time

/// Advances an app automatically while each step is proven.
///
/// Its only state is in the ledger, so it can be restarted at any time. After the guard, a kill or a step back it waits
/// for an operator's step.
package struct AutomateRollout: Sendable {
  /// The action for the present state.
  package enum Turn: Sendable {
    case advance(AdvanceRollout.Plan)
    /// The missing evidence arrives automatically.
    ///
    /// If none is missing, only the time at this step is too short.
    case wait(AdvanceRollout.Plan)
    /// The last allowed step is done.
    case reached(AdvanceRollout.Plan)
  }

  private let bundleID: String
  private let environment: Environment
  private let last: RolloutStep
  private let stay: Interval
  private let advance: AdvanceRollout

  /// The maximum wait of a stage for its evidence, after which an operator must check.
  private static let patience = Interval.days(14)
  package static let stay = Interval.hours(24)

  /// - Parameters:
  ///   - last: the last step. Never `complete`, which an operator makes as the final approval.
  ///   - stay: the minimum time at each step before the next.
  package init(
    _ bundleID: String, in environment: Environment, until last: RolloutStep = RolloutStep(.live),
    staying stay: Interval = Self.stay, asking demand: RolloutEvidence.Requirements = .init()
  ) {
    (self.bundleID, self.environment, self.last, self.stay) = (bundleID, environment, last, stay)
    advance = AdvanceRollout(bundleID, in: environment, upTo: last, asking: demand)
  }

  /// Returns the next action.
  ///
  /// Throws `AutomationStopped` if an operator must check first.
  package func plan(at now: Timestamp, on connection: Connection) async throws -> Turn {
    let plan = try await advance.plan(at: now, on: connection)
    if let entry = try await takenBack(connection) { throw AutomationStopped(.takenBack(entry), plan) }
    guard let step = plan.step, step <= last else { return .reached(plan) }
    guard plan.missing.allSatisfy(\.comesByItself) else { throw AutomationStopped(.missing, plan) }
    let (flag, spent) = (plan.standing.flag, now - plan.standing.flag.changedAt)
    if flag.stage.answers != .apple, spent < stay { return .wait(plan) }
    if plan.isProven { return .advance(plan) }
    guard spent < Self.patience else { throw AutomationStopped(.patience, plan) }
    return .wait(plan)
  }

  package func apply(
    _ plan: AdvanceRollout.Plan, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws -> [SetStage.Change] {
    try await advance.apply(plan, forced: false, by: author, at: now, on: connection)
  }

  /// Returns the last change of the stage, if it reduced Switchyard's responses.
  private func takenBack(_ connection: Connection) async throws -> AuditTable.Record? {
    let (bundleID, place) = (bundleID, environment.rawValue + ":")
    let moves = [SetStage.action, SetStage.actionBack, RollBackToShadow.action, RolloutGuard.action]
    let change = try await connection.read { session throws(DatabaseError) in
      try AuditTable.last(of: bundleID, among: moves, beginning: place, in: session)
    }
    return change.flatMap { $0.action == SetStage.action.description ? nil : $0 }
  }
}

/// An error: an operator must check before the app advances.
package struct AutomationStopped: ExitStatusError, CustomStringConvertible {
  package enum Reason: Sendable {
    /// An operator or the guard rolled back, as the audit shows.
    case takenBack(AuditTable.Record)
    /// Evidence that does not arrive automatically.
    case missing
    case patience
  }

  package let reason: Reason
  package let plan: AdvanceRollout.Plan

  init(_ reason: Reason, _ plan: AdvanceRollout.Plan) { (self.reason, self.plan) = (reason, plan) }

  package var exitStatus: ExitStatus { .refused }

  /// The command with which an operator continues.
  package var next: String {
    let (app, place) = (plan.standing.app.bundleID, plan.standing.flag.environment.rawValue)
    switch reason {
    case .takenBack: return "switchyard rollout history \(app)"
    case .missing, .patience:
      let missing = plan.missing.first { !$0.comesByItself } ?? plan.missing.first
      return missing?.next(app, place) ?? "switchyard rollout advance \(app) --environment \(place)"
    }
  }

  package var description: String {
    let flag = plan.standing.flag
    let place = "\(plan.standing.app.bundleID) \(flag.environment.rawValue)"
    switch reason {
    case .takenBack(let entry):
      return """
        \(place): Switchyard's answers were taken back (\(entry.action) by \(entry.actor), \(entry.at.iso8601): \(entry.reason)). Find out why; \
        then take the next step by hand with `switchyard rollout advance \(place.replacing(" ", with: " --environment "))`, and \
        begin `rollout advance --auto` again
        """
    case .missing: return EvidenceMissing(plan: plan).description
    case .patience:
      return """
        \(place) has been in \(StageTransition.name(flag.stage, flag.share)) for more than 14 days, and the next step is not proven:
        """ + "\n" + plan.missing.map { "  \($0.text)" }.joined(separator: "\n")
    }
  }
}
