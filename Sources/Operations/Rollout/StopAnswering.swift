package import Database
import Ledger
package import Purchases
import Rollout
package import Time

/// The kill switch: takes our answers away from clients, for one app or for all, and goes on comparing.
///
/// From `ramp`, `live` and `complete` back to `shadow`, in one transaction; it needs nothing and nothing refuses it. Apple
/// answers everybody as soon as a process has heard of it.
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
    return try await connection.read { session throws(DatabaseError) in try RolloutStanding.all(in: session) }.filter {
      $0.flag.stage.answers != .apple && (bundleID == nil || $0.app.bundleID == bundleID)
        && (environment == nil || $0.flag.environment == environment)
    }
  }

  /// Stops all of them, whatever was changed since the plan; those that somebody else has stopped meanwhile are left alone.
  ///
  /// - Returns: How many were stopped.
  @discardableResult
  package func apply(
    _ plan: [RolloutStanding], by author: Author, at now: Milliseconds, on connection: Connection
  ) async throws -> Int {
    try await connection.transaction { session throws(DatabaseError) in
      var count = 0
      let flags = try FlagTable.all(in: session)
      for standing in plan {
        guard let flag = flags[standing.scope], flag.stage.answers != .apple else { continue }
        guard try FlagTable.advance(standing.scope, from: flag, to: .shadow, at: now, in: session) else {
          throw .abandoned("another change of the stage came first; try again")
        }
        try author.note(
          Self.action, of: standing.app.bundleID,
          "\(flag.environment.rawValue): \(Move.name(flag.stage, flag.share)) to shadow", at: now, in: session)
        count += 1
      }
      return count
    }
  }
}
