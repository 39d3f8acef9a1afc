package import Database
import Ledger
package import Purchases
package import Rollout
package import Runtime
import Signing
package import Time

/// Moves an app to a stage, in both environments or in one.
///
/// Running services apply it within seconds.
package struct SetStage: Sendable {
  /// The action in the audit, which has the history of an app's stages.
  ///
  /// A move to an earlier stage or a smaller percentage has a separate name.
  package static let (action, actionBack): (StaticString, StaticString) = ("rollout.set", "rollout.back")

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
  ///   - environment: `nil` for both.
  ///   - passesBy: allows `legacy` while messages wait. They are still sent, and new ones overtake them.
  ///   - isForced: allows stages with Switchyard's responses without evidence, which the audit records.
  ///   - isProven: whether all evidence for the stage is present.
  ///   - waived: the missing evidence that an operator's lower requirements waived, for the audit.
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

  /// Returns the move in each environment, even without a change.
  ///
  /// Throws `NoSuchApp`, or `StageRefused` if a move is not allowed.
  package func plan(at now: Timestamp, on connection: Connection) async throws -> [Change] {
    _ = try await AppRecord.find(bundleID, connection)
    let standings = try await connection.read { session throws(DatabaseError) in try AppRollout.all(in: session) }
    return try standings.filter { standing in
      standing.app.bundleID == bundleID && (environment == nil || standing.flag.environment == environment)
    }.map { try change(of: $0, at: now) }
  }

  /// Returns the move from an earlier read state.
  ///
  /// `apply` refuses it if the stage was set since.
  func change(of standing: AppRollout, at now: Timestamp) throws -> Change {
    Change(standing: standing, move: try move(standing, at: now))
  }

  /// Writes all moves in one transaction, or none if another process set one of the stages since the plan.
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

  /// Returns a salt of buckets for an app without one, which hides the customers of a ramp from others.
  private static func newSalt() -> String { Digest.sha256([UInt8].random(count: 32)).hex.prefix(16).description }

  private func move(_ standing: AppRollout, at now: Timestamp) throws -> StageTransition {
    // Younger messages are in delivery. A busy app always has some.
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

/// An error: the stage was not set, and no environment was changed.
package struct StageRefused: ExitStatusError, CustomStringConvertible {
  package let app: String
  package let environment: Environment
  package let refusal: TransitionError

  package var exitStatus: ExitStatus { .refused }
  package var description: String { "\(app) \(environment.rawValue): \(refusal)" }
}
