package import Database
import Ledger
package import Purchases
import Rollout
package import Time

/// The kill switch: takes our answers away from clients, for one app or for all, and goes on comparing.
///
/// From `ramp`, `live` and `complete` back to `shadow`, each app and environment in a transaction of its own, so that a row that
/// somebody holds keeps no other app answered; nothing refuses it. Apple answers everybody as soon as a process has heard of it. An
/// app that is in `shadow` stays there, with a new epoch and an entry in the audit: a step that was planned before is refused, and
/// `rollout advance --auto` takes none.
package struct StopAnswering: Sendable {
  package static let action: StaticString = "rollout.kill"

  /// What becomes of an app in one environment.
  package enum Effect: String, Sendable {
    /// Goes back to `shadow`.
    case stopped
    /// Stays in `shadow`, with a new epoch.
    case kept
    /// Nothing: Apple answers already, in a stage below `shadow`.
    case untouched = "none"
    /// It could not be stopped in time.
    case failed
  }

  package struct Outcome: Sendable {
    /// How the app stood before.
    package let standing: RolloutStanding
    package let effect: Effect
    /// Why it could not be stopped.
    package let trouble: DatabaseError?
  }

  package struct Report: Sendable {
    /// Every app and environment that was looked at.
    package let outcomes: [Outcome]
    /// All others where callers get our answers.
    package let stillAnswered: [RolloutStanding]

    package func all(_ effect: Effect) -> [Outcome] { outcomes.filter { $0.effect == effect } }
  }

  private let bundleID: String?
  private let environment: Environment?
  private let patience: Duration

  /// How long it is tried where somebody holds an app's row, or the database is away: the server ends a transaction in which nothing
  /// happened for 20 seconds.
  package static let patience = Duration.seconds(25)

  /// - Parameters:
  ///   - bundleID: nil for every app.
  ///   - environment: nil for both.
  package init(of bundleID: String?, in environment: Environment? = nil, patience: Duration = Self.patience) {
    (self.bundleID, self.environment, self.patience) = (bundleID, environment, patience)
  }

  /// What would be stopped now; `NoSuchApp` when the app is not registered.
  package func plan(on connection: Connection) async throws -> Report {
    try report(
      await connection.read { session throws(DatabaseError) in try RolloutStanding.all(in: session) })
  }

  /// Stops every app whatever its stage is by then, those that we answer first.
  ///
  /// What could not be stopped in time is in the report.
  ///
  /// - Parameter waits: is told once of which apps it takes longer, and why.
  @discardableResult
  package func apply(
    by author: Author, at now: @autoclosure @Sendable () -> Milliseconds, on connection: Connection,
    waits: @Sendable ([Outcome]) -> Void = { _ in }
  ) async throws -> Report {
    // Of its own connections a new one is opened where one broke.
    let pool = Pool(connection.configuration)
    let result: Result<Report, any Error>
    do { result = .success(try await apply(by: author, at: now, pool, waits)) } catch { result = .failure(error) }
    await pool.close()
    return try result.get()
  }

  private func apply(
    by author: Author, at now: @Sendable () -> Milliseconds, _ pool: Pool, _ waits: @Sendable ([Outcome]) -> Void
  ) async throws -> Report {
    let start = ContinuousClock.now
    let plan = try report(
      await pool.read { session throws(DatabaseError) in try RolloutStanding.all(in: session) })
    var outcomes: [Scope: Outcome] = [:]
    var left = plan.all(.stopped).map(\.standing) + plan.all(.kept).map(\.standing)
    var isFirst = true
    while !left.isEmpty {
      for standing in left {
        outcomes[standing.scope] = await stop(standing, by: author, at: now(), waiting: isFirst ? 1 : 5, pool)
      }
      left = left.filter { outcomes[$0.scope]?.effect == .failed }
      guard !left.isEmpty, ContinuousClock.now - start < patience, !Task.isCancelled else { break }
      if isFirst { waits(left.compactMap { outcomes[$0.scope] }) }
      isFirst = false
      try? await Task.sleep(for: .milliseconds(100))
    }
    return Report(
      outcomes: plan.outcomes.map { outcomes[$0.standing.scope] ?? $0 }, stillAnswered: plan.stillAnswered)
  }

  private func report(_ all: [RolloutStanding]) throws(NoSuchApp) -> Report {
    if let bundleID, !all.contains(where: { $0.app.bundleID == bundleID }) { throw NoSuchApp(bundleID: bundleID) }
    return Report(
      outcomes: all.filter(isMeant).map { Outcome(standing: $0, effect: Self.effect(on: $0), trouble: nil) },
      stillAnswered: all.filter { $0.isAnswered && !isMeant($0) })
  }

  private func isMeant(_ standing: RolloutStanding) -> Bool {
    (bundleID == nil || standing.app.bundleID == bundleID)
      && (environment == nil || standing.flag.environment == environment)
  }

  private static func effect(on standing: RolloutStanding) -> Effect {
    if standing.isAnswered { return .stopped }
    return standing.flag.stage == .shadow ? .kept : .untouched
  }

  /// May be done twice, so a commit of which nobody knows is done again.
  private func stop(
    _ standing: RolloutStanding, by author: Author, at now: Milliseconds, waiting seconds: Int64, _ pool: Pool
  ) async -> Outcome {
    do throws(DatabaseError) {
      let effect = try await pool.transaction(
        replayable: true, lockWait: .seconds(seconds), givingUpOn: [.lockWaitTimeout]
      ) { session throws(DatabaseError) in
        guard let (stage, share) = try FlagTable.stop(standing.scope, at: now, in: session) else {
          return Effect.untouched
        }
        try author.note(
          Self.action, of: standing.app.bundleID,
          "\(standing.flag.environment.rawValue): \(Move.name(stage, share)) to shadow", at: now, in: session)
        return stage == .shadow && !standing.isAnswered ? .kept : .stopped
      }
      return Outcome(standing: standing, effect: effect, trouble: nil)
    } catch {
      return Outcome(standing: standing, effect: .failed, trouble: error)
    }
  }
}
