package import Database
import Ledger
package import Time

/// How many of the running services work by the stages as they are now.
///
/// A service that has said nothing for `silence` counts as silent for an hour: it ended without a word, was suspended, or
/// cannot reach the database. One that stops properly is not counted any more.
package struct FollowingServices: Hashable, Sendable {
  package let following: Int
  /// How many still work by earlier stages.
  package let behind: Int
  /// How long each silent service has said nothing, the shortest first.
  package let silent: [Interval]
  /// How long it took until the last of them followed, or how long it was waited for.
  package let waited: Interval

  /// How many said something a moment ago.
  package var count: Int { following + behind }

  /// A change of a stage counts in every process within this time.
  package static let limit = Interval.seconds(5)
  package static let silence = ProcessTable.silence
  private static let period = Duration.milliseconds(200)

  /// Returns what holds now.
  package static func now(on connection: Connection) async throws -> FollowingServices {
    try await awaited(within: .milliseconds(0), on: connection)
  }

  /// Waits until every running service works by the stages as they are at the call, and at most for `limit`.
  ///
  /// It is called when a change has been committed. Where no service runs it returns at once. Cancellation ends the wait with
  /// an error.
  package static func awaited(
    within limit: Interval = FollowingServices.limit, on connection: Connection
  ) async throws -> FollowingServices {
    let start = ContinuousClock.now
    var target: Int64?
    while true {
      let (mark, noted) = try await connection.read { session throws(DatabaseError) in
        let mark = try FlagTable.mark(in: session)
        return (mark, try ProcessTable.noted(in: session))
      }
      // Later changes are others' to wait for. The mark never becomes smaller.
      let wanted = target ?? mark
      target = wanted
      let following = noted.marks.count { $0 >= wanted }
      let elapsed = (ContinuousClock.now - start).components
      let waited = Interval.milliseconds(
        elapsed.seconds * 1_000 + elapsed.attoseconds / 1_000_000_000_000_000)
      guard following < noted.marks.count, waited < limit else {
        return FollowingServices(
          following: following, behind: noted.marks.count - following, silent: noted.silent.sorted(), waited: waited)
      }
      try await Task.sleep(for: period)
    }
  }
}
