package import Database
import Ledger
package import Purchases
import Rollout
package import Time

/// The kill switch: takes our answers away from clients, for one app or for all, and goes on comparing.
///
/// From `ramp`, `live` and `complete` back to `shadow`, each app and environment in a transaction of its own, so that a row that
/// somebody holds keeps no other app answered; it needs nothing and nothing refuses it. Apple answers everybody as soon as a
/// process has heard of it. An app that is in `shadow` stays there, with a new epoch and an entry in the audit: a step that was
/// planned before is refused, and `rollout auto` takes none.
package struct StopAnswering: Sendable {
  package static let action: StaticString = "rollout.kill"

  /// What a stop does, or did.
  package struct Report: Sendable {
    /// Every app and environment that was looked at, as it stood before.
    package let scopes: [RolloutStanding]
    /// All others where callers get our answers.
    package let stillAnswered: [RolloutStanding]
    /// Those of `scopes` that could not be stopped in time.
    package fileprivate(set) var left: [RolloutStanding] = []
    /// Why they could not; with nothing left: why it could not be read whether anything is.
    package fileprivate(set) var trouble: DatabaseError?
    /// By which the ledger can be read now: another one if the connection broke.
    package let connection: Connection

    /// Those whose callers got our answers, and get them no more.
    package var stopped: [RolloutStanding] {
      scopes.filter { StopAnswering.effect(on: $0) == .stopped && !isLeft($0) }
    }

    /// The others that were looked at: Apple answered their callers already.
    package var spared: [RolloutStanding] { scopes.filter { StopAnswering.effect(on: $0) != .stopped } }

    /// Whether it could not be stopped.
    package func isLeft(_ standing: RolloutStanding) -> Bool { left.contains { $0.scope == standing.scope } }
  }

  /// What becomes of an app in one environment.
  package enum Effect: String, Sendable {
    /// Goes back to `shadow`.
    case stopped
    /// Stays in `shadow`, with a new epoch: a step that was planned before is refused.
    case kept
    /// Nothing: Apple answers already.
    case untouched = "none"
  }

  private let bundleID: String?
  private let environment: Environment?
  private let patience: Duration

  /// - Parameters:
  ///   - bundleID: nil for every app.
  ///   - environment: nil for both.
  ///   - patience: how long it is tried; nil for 25 seconds.
  package init(of bundleID: String?, in environment: Environment? = nil, patience: Duration? = nil) {
    self.patience = patience ?? PatientConnection.patience
    self.bundleID = bundleID
    self.environment = environment
  }

  /// What a stop does to an app that stands so.
  package static func effect(on standing: RolloutStanding) -> Effect {
    if standing.isAnswered { return .stopped }
    return standing.flag.stage == .shadow ? .kept : .untouched
  }

  /// What would be stopped now; `NoSuchApp` when the app is not registered.
  package func plan(on connection: Connection) async throws -> Report {
    if let bundleID { _ = try await AppRecord.find(bundleID, connection) }
    let all = try await Self.standings(connection)
    return report(all, stopped: [:], connection)
  }

  /// Stops every app that is answered by us at that moment, whatever was planned.
  ///
  /// What could not be stopped in time is in the report. Throws if nothing can be read, or if nothing can be stopped for another
  /// reason than that others hold the rows or the connection broke.
  ///
  /// - Parameter waits: is told once why it takes longer, and of which apps.
  @discardableResult
  package func apply(
    by author: Author, at now: @autoclosure @Sendable () -> Milliseconds, on connection: Connection,
    waits: @Sendable (DatabaseError, [RolloutStanding]) -> Void = { _, _ in }
  ) async throws -> Report {
    var patient = PatientConnection(connection, for: patience)
    var all: [RolloutStanding]?
    // As they stood when they were stopped, and where nobody knows whether they were.
    var (stopped, unsure): ([Scope: RolloutStanding], [Scope: RolloutStanding]) = ([:], [:])
    // That of a commit of which nobody knows, until something can be read: what fails after it says less.
    var unknown: DatabaseError?
    var (trouble, hasWaited): (DatabaseError?, Bool) = (nil, false)
    var tried: Set<Scope> = []
    while true {
      // Whose stop was committed since `all` was read.
      var committed: Set<Scope> = []
      var isRead = false
      do throws(DatabaseError) {
        let standings = try await Self.standings(patient.connection)
        (all, unknown) = (standings, nil)
        for standing in left(of: standings, stopped) {
          // Each is tried once, however long the reading took.
          if Task.isCancelled || patient.isOver && tried.contains(standing.scope) { break }
          tried.insert(standing.scope)
          do throws(DatabaseError) {
            try await stop(standing, by: author, at: now(), waiting: patient.lockWait, on: patient.connection)
            let scope = standing.scope
            stopped[scope] = unsure[scope].flatMap { $0.isAnswered ? $0 : nil } ?? standing
            committed.insert(scope)
          } catch {
            trouble = error
            if error.code == .commitOutcomeUnknown { (unknown, unsure[standing.scope]) = (error, standing) }
            if patient.connection.isPoisoned { break }
          }
        }
        // What stands now; somebody may have gone on meanwhile.
        (all, committed, isRead) = (try await Self.standings(patient.connection), [], true)
      } catch { trouble = error }
      let left = left(of: all ?? [], stopped).filter { !committed.contains($0.scope) }
      if left.isEmpty, isRead { return report(all ?? [], stopped: stopped, patient.connection) }
      let error = unknown ?? trouble ?? .abandoned("the time is over")
      if !hasWaited { waits(error, left) }
      hasWaited = true
      do { try await patient.pause(after: error) } catch let failure {
        let isSaid = failure is CancellationError || !stopped.isEmpty || !unsure.isEmpty
        guard let all, isSaid || PatientConnection.isPassing(error) else { throw failure }
        for standing in left { stopped[standing.scope] = nil }
        var report = report(all, stopped: stopped, patient.connection)
        (report.left, report.trouble) = (left, error)
        return report
      }
    }
  }

  /// Those who are still to be stopped: first those who are answered by us.
  private func left(of all: [RolloutStanding], _ stopped: [Scope: RolloutStanding]) -> [RolloutStanding] {
    let meant = all.filter(isMeant)
    return meant.filter(\.isAnswered)
      + meant.filter { Self.effect(on: $0) == .kept && stopped[$0.scope] == nil }
  }

  private func report(
    _ all: [RolloutStanding], stopped: [Scope: RolloutStanding], _ connection: Connection
  ) -> Report {
    Report(
      scopes: all.filter(isMeant).map { stopped[$0.scope] ?? $0 },
      stillAnswered: all.filter { $0.isAnswered && !isMeant($0) }, connection: connection)
  }

  private func isMeant(_ standing: RolloutStanding) -> Bool {
    (bundleID == nil || standing.app.bundleID == bundleID)
      && (environment == nil || standing.flag.environment == environment)
  }

  private static func standings(_ connection: Connection) async throws(DatabaseError) -> [RolloutStanding] {
    try await connection.read { session throws(DatabaseError) in try RolloutStanding.all(in: session) }
  }

  private func stop(
    _ standing: RolloutStanding, by author: Author, at now: Milliseconds, waiting lockWait: Interval,
    on connection: Connection
  ) async throws(DatabaseError) {
    try await connection.transaction(lockWait: lockWait) { session throws(DatabaseError) in
      let flag = standing.flag
      guard try FlagTable.advance(standing.scope, from: flag, to: .shadow, at: now, in: session) else {
        throw .abandoned("another change of the stage came first")
      }
      try author.note(
        Self.action, of: standing.app.bundleID,
        "\(flag.environment.rawValue): \(Move.name(flag.stage, flag.share)) to shadow", at: now, in: session)
    }
  }
}
