package import Database
import Ledger
package import Purchases
import Rollout
package import Time

/// The kill switch: takes our answers away from clients, for one app or for all, and goes on comparing.
///
/// From `ramp`, `live` and `complete` back to `shadow`, in one transaction; it needs nothing and nothing refuses it. Apple
/// answers everybody as soon as a process has heard of it. An app that is in `shadow` stays there, with a new epoch: it may be
/// there for a rehearsal, which then does not bring it back.
package struct StopAnswering: Sendable {
  package static let action: StaticString = "rollout.kill"

  /// What a stop does, or did.
  package struct Report: Sendable {
    /// Every app and environment that was looked at, as it stood before.
    package let scopes: [RolloutStanding]
    /// All others where callers get our answers.
    package let stillAnswered: [RolloutStanding]

    fileprivate init(of all: [RolloutStanding], isMeant: (RolloutStanding) -> Bool) {
      scopes = all.filter(isMeant)
      stillAnswered = all.filter { $0.mayBeAnswered && !isMeant($0) }
    }

    /// Those whose callers got our answers.
    package var stopped: [RolloutStanding] { scopes.filter { StopAnswering.effect(on: $0) == .stopped } }

    /// The others that were looked at: Apple answered their callers already.
    package var spared: [RolloutStanding] { scopes.filter { StopAnswering.effect(on: $0) != .stopped } }
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

  /// - Parameters:
  ///   - bundleID: nil for every app.
  ///   - environment: nil for both.
  package init(of bundleID: String?, in environment: Environment? = nil) {
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
    return try await connection.read { session throws(DatabaseError) in try report(in: session) }
  }

  /// Stops every app that is answered by us at that moment, whatever was planned.
  @discardableResult
  package func apply(
    by author: Author, at now: Milliseconds, on connection: Connection
  ) async throws -> Report {
    try await PatientTransaction(connection: connection).run { session throws(DatabaseError) in
      let report = try report(in: session)
      for standing in report.scopes where Self.effect(on: standing) != .untouched {
        let flag = standing.flag
        guard try FlagTable.advance(standing.scope, from: flag, to: .shadow, at: now, in: session) else {
          throw .abandoned("another change of the stage came first; try again")
        }
        try author.note(
          Self.action, of: standing.app.bundleID,
          "\(flag.environment.rawValue): \(Move.name(flag.stage, flag.share)) to shadow", at: now, in: session)
      }
      return report
    }
  }

  private func report(in session: borrowing Session) throws(DatabaseError) -> Report {
    Report(of: try RolloutStanding.all(in: session)) {
      (bundleID == nil || $0.app.bundleID == bundleID) && (environment == nil || $0.flag.environment == environment)
    }
  }
}

extension RolloutStanding {
  /// Whether callers get our answers, or may get them of a newer version that knows the stage.
  fileprivate var mayBeAnswered: Bool { isAnswered || flag.unknownStage != nil }
}
