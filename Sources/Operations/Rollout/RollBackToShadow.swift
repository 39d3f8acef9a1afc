package import Database
import Ledger
package import Purchases
import Rollout
package import Time

/// The kill switch: stops Switchyard's responses to clients, for one app or all, and continues the comparisons.
///
/// It sets `ramp`, `live` and `complete` back to `shadow`, each app and environment in a separate transaction, so that
/// a locked row blocks no other app. No condition refuses it. Apple answers all callers as soon as a process reads the
/// change. An app in `shadow` gets a new epoch and an audit entry: an earlier planned step is refused, and `rollout
/// advance --auto` makes none.
package struct RollBackToShadow: Sendable {
  package static let action: StaticString = "rollout.kill"

  package enum Effect: String, Sendable {
    /// The app returns to `shadow`.
    case stopped
    /// The app stays in `shadow`, with a new epoch.
    case kept
    /// No change: in a stage below `shadow` Apple already answers.
    case untouched = "none"
    /// It could not be stopped in time.
    case failed
  }

  package struct Outcome: Sendable {
    package let standing: AppRollout
    package let effect: Effect
    package let from: String
    package let trouble: DatabaseError?

    init(_ standing: AppRollout, _ effect: Effect, from: String? = nil, trouble: DatabaseError? = nil) {
      (self.standing, self.effect, self.trouble) = (standing, effect, trouble)
      self.from = from ?? StageTransition.name(standing.flag.stage, standing.flag.share)
    }
  }

  package struct Report: Sendable {
    package let outcomes: [Outcome]
    /// Other apps that Switchyard answers now, or answers again.
    ///
    /// `nil` if they could not be read.
    package let stillAnswered: [AppRollout]?
    /// A working connection: a new one if the first broke.
    package let connection: Connection

    package func all(_ effect: Effect) -> [Outcome] { outcomes.filter { $0.effect == effect } }
  }

  private let bundleID: String?
  private let environment: Environment?
  private let patience: Duration

  /// The time for all tries: the server ends a service's idle transaction, which locks an app's row, after 20 seconds.
  package static let patience = Duration.seconds(25)

  /// - Parameters:
  ///   - bundleID: `nil` for every app.
  ///   - environment: `nil` for both.
  package init(of bundleID: String?, in environment: Environment? = nil, patience: Duration = Self.patience) {
    (self.bundleID, self.environment, self.patience) = (bundleID, environment, patience)
  }

  /// Returns the apps to stop.
  ///
  /// Throws `NoSuchApp`.
  package func plan(on connection: Connection) async throws -> Report {
    if let bundleID { _ = try await AppRecord.find(bundleID, connection) }
    let all = try await Self.standings(connection)
    return Report(
      outcomes: all.filter(isMeant).map { Outcome($0, Self.effect(on: $0)) },
      stillAnswered: all.filter { $0.isAnswered && !isMeant($0) }, connection: connection)
  }

  /// Stops each app in its present stage, first the apps that Switchyard answers.
  ///
  /// It tries each app once, then again until the time is over, and opens a new connection if one breaks. The report
  /// has the failures. Throws if no app can be read, or if a permanent error stops every try.
  ///
  /// - Parameter waits: called once with the failures of the first tries.
  @discardableResult
  package func apply(
    by author: AuditContext, at now: @autoclosure @Sendable () -> Timestamp, on connection: Connection,
    waits: @Sendable ([Outcome]) -> Void = { _ in }
  ) async throws -> Report {
    let start = ContinuousClock.now
    var connection = connection
    let plan: Report
    do { plan = try await self.plan(on: connection) } catch  where connection.isPoisoned {
      connection = try await Connection.open(connection.configuration)
      plan = try await self.plan(on: connection)
    }
    var outcomes: [AppScope: Outcome] = [:]
    var left = (plan.all(.stopped) + plan.all(.kept)).map(\.standing)
    var isFirst = true
    while !left.isEmpty {
      var trouble: DatabaseError?
      for standing in left {
        if Task.isCancelled || !isFirst && ContinuousClock.now - start >= patience {
          trouble = trouble ?? .abandoned("the time was over")
        } else if trouble == nil, connection.isPoisoned {
          do throws(DatabaseError) { connection = try await Connection.open(connection.configuration) } catch {
            trouble = error
          }
        }
        let earlier = outcomes[standing.scope]?.trouble
        outcomes[standing.scope] =
          if let trouble { Outcome(standing, .failed, trouble: earlier ?? trouble) } else {
            await stop(standing, by: author, at: now(), waiting: isFirst ? 1 : 5, connection)
          }
      }
      left = left.filter { outcomes[$0.scope]?.effect == .failed }
      if let error = left.lazy.compactMap({ outcomes[$0.scope]?.trouble }).first(where: { !Self.isPassing($0) }) {
        guard outcomes.values.contains(where: { $0.effect != .failed }) else { throw error }
        break
      }
      guard !left.isEmpty, ContinuousClock.now - start < patience, !Task.isCancelled else { break }
      if isFirst { waits(left.compactMap { outcomes[$0.scope] }) }
      isFirst = false
      try? await Task.sleep(for: .milliseconds(100))
    }
    // The stages may have changed since the plan.
    let answered = try? await Self.standings(connection).filter(\.isAnswered)
    return Report(
      outcomes: plan.outcomes.map { outcomes[$0.standing.scope] ?? $0 },
      stillAnswered: answered?.filter { outcomes[$0.scope]?.effect != .failed }, connection: connection)
  }

  private func isMeant(_ standing: AppRollout) -> Bool {
    (bundleID == nil || standing.app.bundleID == bundleID)
      && (environment == nil || standing.flag.environment == environment)
  }

  private static func effect(on standing: AppRollout) -> Effect {
    if standing.isAnswered { return .stopped }
    return standing.flag.stage == .shadow ? .kept : .untouched
  }

  private static func standings(_ connection: Connection) async throws(DatabaseError) -> [AppRollout] {
    try await connection.read { session throws(DatabaseError) in try AppRollout.all(in: session) }
  }

  private static func isPassing(_ error: DatabaseError) -> Bool {
    error.isRetryable || [.abandoned, .commitOutcomeUnknown].contains(error.code)
  }

  /// Safe to repeat, for example after a commit of unknown outcome.
  private func stop(
    _ standing: AppRollout, by author: AuditContext, at now: Timestamp, waiting seconds: Int64,
    _ connection: Connection
  ) async -> Outcome {
    do throws(DatabaseError) {
      return try await connection.transaction(lockWait: .seconds(seconds)) { session throws(DatabaseError) in
        guard let (stage, share) = try StageTable.stop(standing.scope, at: now, in: session) else {
          return Outcome(standing, .untouched)
        }
        let from = StageTransition.name(stage, share)
        try author.note(
          Self.action, of: standing.app.bundleID, "\(standing.flag.environment.rawValue): \(from) to shadow", at: now,
          in: session)
        if stage == .shadow { return Outcome(standing, Self.effect(on: standing)) }
        return Outcome(standing, .stopped, from: from)
      }
    } catch {
      return Outcome(standing, .failed, trouble: error)
    }
  }
}
