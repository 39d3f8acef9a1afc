package import Database
import Ledger
package import Purchases
package import Rollout
package import Runtime
import Signing
package import Time

/// Moves an app to a stage, in both environments or in one; running services learn of it within seconds.
package struct SetStage: Sendable {
  /// What it is called in the audit, where the history of an app's stages is; a move to an earlier stage, or to a smaller
  /// percentage, has a name of its own.
  package static let (action, actionBack): (StaticString, StaticString) = ("rollout.set", "rollout.back")

  /// The move in one environment.
  package struct Change: Sendable {
    package let standing: AppRollout
    package let move: StageTransition
  }

  private let bundleID: String
  private let stage: Stage
  private let share: RampPercentage?
  private let environment: Environment?
  private let passesBy: Bool
  private let isForced: Bool
  private let isProven: Bool
  private let waived: [String]

  /// - Parameters:
  ///   - share: for `ramp`.
  ///   - environment: nil for both.
  ///   - passesBy: to legacy although messages wait: they go on being sent, new ones pass them by.
  ///   - isForced: to where we answer, without evidence; the audit says so.
  ///   - isProven: whether everything was found that the stage needs to be proven by.
  ///   - waived: names of what was not found, and not asked for either since an operator lowered the demands; for the audit.
  package init(
    _ stage: Stage, at share: RampPercentage? = nil, of bundleID: String, in environment: Environment? = nil,
    passingBy passesBy: Bool = false,
    forced isForced: Bool = false, proven isProven: Bool = false, waiving waived: [String] = []
  ) {
    self.isForced = isForced
    self.isProven = isProven
    self.waived = waived
    self.share = share
    self.bundleID = bundleID
    self.stage = stage
    self.environment = environment
    self.passesBy = passesBy
  }

  /// The move in each environment, also where it changes nothing; `NoSuchApp`, or `StageRefused` when one may not be made.
  package func plan(at now: Timestamp, on connection: Connection) async throws -> [Change] {
    _ = try await AppRecord.find(bundleID, connection)
    let standings = try await connection.read { session throws(DatabaseError) in try AppRollout.all(in: session) }
    return try standings.filter { standing in
      standing.app.bundleID == bundleID && (environment == nil || standing.flag.environment == environment)
    }.map { try change(of: $0, at: now) }
  }

  /// The move from a standing that was read before; `apply` refuses it if the stage was set since.
  func change(of standing: AppRollout, at now: Timestamp) throws -> Change {
    Change(standing: standing, move: try move(standing, at: now))
  }

  /// Writes all of them in one transaction; nothing is changed when somebody else set one of the stages since the plan.
  package func apply(
    _ plan: [Change], by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws {
    let changes = plan.filter(\.move.changesAnything)
    try await connection.transaction { session throws(DatabaseError) in
      for change in changes {
        let (standing, move) = (change.standing, change.move)
        let isFirst = try StageTable.advance(
          standing.scope, from: standing.flag, to: move.to, share: move.share,
          salt: move.to == .ramp ? Self.newSalt() : nil, at: now, in: session)
        guard isFirst else { throw .abandoned("another change of the stage came first; look and try again") }
        let isBack = RolloutStep(move.to, move.share) < RolloutStep(move.from, move.shareBefore)
        try author.note(
          isBack ? Self.actionBack : Self.action, of: standing.app.bundleID,
          "\(standing.flag.environment.rawValue): \(move.description)"
            + (move.isForced ? ", forced" : "")
            + (waived.isEmpty ? "" : ", by lowered demands without \(waived.joined(separator: ", "))"), at: now,
          in: session)
      }
    }
  }

  /// What buckets are made with if the app has nothing yet: others cannot tell who is in a ramp.
  private static func newSalt() -> String { Digest.sha256([UInt8].random(count: 32)).hex.prefix(16).description }

  private func move(_ standing: AppRollout, at now: Timestamp) throws -> StageTransition {
    // What is younger is on its way; a busy app always has some.
    let isBackedUp = standing.depth.oldest.map { now - $0 > .minutes(1) } ?? false
    var conditions = TransitionPreconditions()
    conditions.hasLegacyURL = standing.legacy?.isEnabled ?? false
    conditions.isBackedUp = isBackedUp && !passesBy
    conditions.hasSharedSecret = standing.hasSharedSecret
    conditions.hasAPIKey = standing.hasAPIKey
    (conditions.isForced, conditions.hasEvidence) = (isForced, isProven)
    do throws(TransitionError) {
      return try StageTransition(
        from: standing.flag.stage, at: standing.flag.share, to: stage, share: share, where: conditions)
    } catch {
      throw StageRefused(app: standing.app.bundleID, environment: standing.flag.environment, refusal: error)
    }
  }
}

/// The stage was not set, and nothing was changed in any environment.
package struct StageRefused: ExitStatusError, CustomStringConvertible {
  package let app: String
  package let environment: Environment
  package let refusal: TransitionError

  package var exitStatus: ExitStatus { .refused }
  package var description: String { "\(app) \(environment.rawValue): \(refusal)" }
}
