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

  private let bundleID: String?
  private let environment: Environment?

  /// - Parameters:
  ///   - bundleID: nil for every app.
  ///   - environment: nil for both.
  package init(of bundleID: String?, in environment: Environment? = nil) {
    self.bundleID = bundleID
    self.environment = environment
  }

  /// Where we answer now; `NoSuchApp` when the app is not registered.
  package func plan(on connection: Connection) async throws -> [RolloutStanding] {
    if let bundleID { _ = try await AppRecord.find(bundleID, connection) }
    return try await connection.read { session throws(DatabaseError) in try affected(in: session) }.filter(\.isAnswered)
  }

  /// Stops every app that is answered by us at that moment, whatever was planned.
  ///
  /// - Returns: Those that were stopped, as they stood before.
  @discardableResult
  package func apply(
    by author: Author, at now: Milliseconds, on connection: Connection
  ) async throws -> [RolloutStanding] {
    for _ in 1..<Self.attempts {
      do { return try await stop(by: author, at: now, on: connection) } catch let error as DatabaseError
        where error.code == .abandoned
      {}
    }
    return try await stop(by: author, at: now, on: connection)
  }

  /// How often it is tried while others change stages.
  private static let attempts = 5

  private func stop(
    by author: Author, at now: Milliseconds, on connection: Connection
  ) async throws -> [RolloutStanding] {
    try await connection.transaction { session throws(DatabaseError) in
      let affected = try affected(in: session)
      for standing in affected {
        let flag = standing.flag
        guard try FlagTable.advance(standing.scope, from: flag, to: .shadow, at: now, in: session) else {
          throw .abandoned("another change of the stage came first; try again")
        }
        try author.note(
          Self.action, of: standing.app.bundleID,
          "\(flag.environment.rawValue): \(Move.name(flag.stage, flag.share)) to shadow", at: now, in: session)
      }
      return affected.filter(\.isAnswered)
    }
  }

  private func affected(in session: borrowing Session) throws(DatabaseError) -> [RolloutStanding] {
    try RolloutStanding.all(in: session).filter {
      ($0.isAnswered || $0.flag.stage == .shadow) && (bundleID == nil || $0.app.bundleID == bundleID)
        && (environment == nil || $0.flag.environment == environment)
    }
  }
}
