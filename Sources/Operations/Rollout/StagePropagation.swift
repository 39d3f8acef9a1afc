package import Database
package import Ledger
package import Time

/// The running services that use the present stages.
///
/// A service that sends no update counts as silent for an hour: it crashed, was suspended, or cannot reach the
/// database. A service that stops properly is not included.
package struct StagePropagation: Hashable, Sendable {
  package let following: [ProcessTable.Status]
  /// The services that still use earlier stages.
  package let behind: [ProcessTable.Status]
  /// The services by last update, newest first.
  package let silent: [ProcessTable.Status]
  /// The time until the last service followed, or the length of the wait.
  package let waited: Interval

  /// The number of services that are not silent.
  package var count: Int { following.count + behind.count }

  /// The time within which a change of a stage applies in every process.
  package static let limit = Interval.seconds(5)
  package static let silence = ProcessTable.silence
  private static let period = Duration.milliseconds(200)

  package static func now(on connection: Connection) async throws -> StagePropagation {
    try await awaited(within: .milliseconds(0), on: connection)
  }

  /// Waits until every running service uses the stages at the time of the call, for at most `limit`.
  ///
  /// Call it after a change was committed. Without services it returns immediately. Cancellation ends the wait with an
  /// error.
  package static func awaited(
    within limit: Interval = StagePropagation.limit, on connection: Connection
  ) async throws -> StagePropagation {
    let start = ContinuousClock.now
    var target: Int64?
    while true {
      let (mark, notes) = try await connection.read { session throws(DatabaseError) in
        let mark = try StageTable.mark(in: session)
        return (mark, try ProcessTable.notes(in: session))
      }
      // Later changes are not awaited. The mark never becomes smaller.
      let wanted = target ?? mark
      target = wanted
      let (silent, heard) = (notes.filter(\.isSilent), notes.filter { !$0.isSilent })
      let behind = heard.filter { $0.mark < wanted }
      let elapsed = (ContinuousClock.now - start).components
      let waited = Interval.milliseconds(
        elapsed.seconds * 1_000 + elapsed.attoseconds / 1_000_000_000_000_000)
      guard !behind.isEmpty, waited < limit else {
        let following = heard.filter { $0.mark >= wanted }
        return StagePropagation(following: following, behind: behind, silent: silent, waited: waited)
      }
      try await Task.sleep(for: period)
    }
  }
}
