package import Database
import Ledger
package import Purchases
import Rollout
package import Time

/// The kill switch: takes our answers away from clients, for one app or for all, and goes on comparing.
///
/// From `ramp`, `live` and `complete` back to `shadow`, each app and environment in a transaction of its own, so that a row that
/// somebody holds keeps no other app answered; it needs nothing and nothing refuses it. Apple answers everybody as soon as a
/// process has heard of it. An app that is in `shadow` stays there, with a new epoch: it may be there for a rehearsal, which
/// then does not bring it back.
package struct StopAnswering: Sendable {
  package static let action: StaticString = "rollout.kill"

  /// What a stop does, or did.
  package struct Report: Sendable {
    /// Every app and environment that was looked at, as it stood before.
    package let scopes: [RolloutStanding]
    /// All others where callers get our answers.
    package let stillAnswered: [RolloutStanding]
    /// Those of `scopes` that could not be stopped in time, and why.
    package fileprivate(set) var left: [RolloutStanding] = []
    package fileprivate(set) var trouble: DatabaseError?

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
    /// Stays in `shadow`, with a new epoch: a rehearsal under way does not bring it back.
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
    if standing.mayBeAnswered { return .stopped }
    return standing.flag.stage == .shadow ? .kept : .untouched
  }

  /// What would be stopped now; `NoSuchApp` when the app is not registered.
  package func plan(on connection: Connection) async throws -> Report {
    if let bundleID { _ = try await AppRecord.find(bundleID, connection) }
    let all = try await Self.standings(connection)
    return Report(scopes: all.filter(isMeant), stillAnswered: all.filter { $0.mayBeAnswered && !isMeant($0) })
  }

  /// Stops every app that is answered by us at that moment, whatever was planned.
  ///
  /// What could not be stopped in time is in the report; if nothing was, the error is thrown.
  ///
  /// - Parameter waits: is told once why it takes longer, and whose callers are answered meanwhile.
  @discardableResult
  package func apply(
    by author: Author, at now: @autoclosure @Sendable () -> Milliseconds, on connection: Connection,
    waits: @Sendable (DatabaseError, [RolloutStanding]) -> Void = { _, _ in }
  ) async throws -> Report {
    var patient = PatientConnection(connection, for: patience)
    var (all, before): ([RolloutStanding], [Scope: RolloutStanding]) = ([], [:])
    // Whose stop is committed, and whose may be.
    var (stopped, unknown): (Set<Scope>, Set<Scope>) = ([], [])
    var hasWaited = false
    func isLeft(_ standing: RolloutStanding) -> Bool {
      guard isMeant(standing) else { return false }
      if standing.mayBeAnswered { return true }
      return Self.effect(on: standing) == .kept && !stopped.union(unknown).contains(standing.scope)
    }
    while true {
      var trouble: DatabaseError?
      do throws(DatabaseError) {
        all = try await Self.standings(patient.connection)
        // Those who are answered by us come first.
        for standing in all.filter(isLeft).sorted(by: { $0.mayBeAnswered && !$1.mayBeAnswered }) {
          before[standing.scope] = standing
          do throws(DatabaseError) {
            try await stop(standing, by: author, at: now(), waiting: patient.lockWait, on: patient.connection)
            stopped.insert(standing.scope)
          } catch {
            trouble = error
            if error.code == .commitOutcomeUnknown { unknown.insert(standing.scope) }
          }
        }
        // What stands now; somebody may have gone on meanwhile.
        all = try await Self.standings(patient.connection)
      } catch { trouble = error }
      let left = all.filter(isLeft)
      if left.isEmpty, trouble == nil { return report(all, before) }
      let error = trouble ?? .abandoned("others keep changing stages")
      if !hasWaited { waits(error, left) }
      hasWaited = true
      do { try await patient.pause(after: error) } catch let error as DatabaseError {
        if stopped.isEmpty { throw error }
        var report = report(all, before)
        // What stands now may not have been read after a commit.
        (report.left, report.trouble) = (left.filter { !stopped.contains($0.scope) }, error)
        return report
      }
    }
  }

  private func report(_ all: [RolloutStanding], _ before: [Scope: RolloutStanding]) -> Report {
    Report(
      scopes: all.filter(isMeant).map { before[$0.scope] ?? $0 },
      stillAnswered: all.filter { $0.mayBeAnswered && !isMeant($0) })
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

extension RolloutStanding {
  /// Whether callers get our answers, or may get them of a newer version that knows the stage.
  fileprivate var mayBeAnswered: Bool { isAnswered || flag.unknownStage != nil }
}
