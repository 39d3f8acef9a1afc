package import Database
package import Ledger
package import Time

/// Which of the running services work by the stages as they are now.
///
/// A service that has said nothing for `silence` counts as silent for an hour: it ended without a word, was suspended, or
/// cannot reach the database. One that stops properly is not among them.
package struct StagePropagation: Hashable, Sendable {
  package let following: [ProcessTable.Status]
  /// Those that still work by earlier stages.
  package let behind: [ProcessTable.Status]
  /// The one that spoke last first.
  package let silent: [ProcessTable.Status]
  /// How long it took until the last of them followed, or how long it was waited for.
  package let waited: Interval

  /// How many said something a moment ago.
  package var count: Int { following.count + behind.count }

  /// A change of a stage counts in every process within this time.
  package static let limit = Interval.seconds(5)
  package static let silence = ProcessTable.silence
  private static let period = Duration.milliseconds(200)

  /// Returns what holds now.
  package static func now(on connection: Connection) async throws -> StagePropagation {
    try await awaited(within: .milliseconds(0), on: connection)
  }

  /// Waits until every running service works by the stages as they are at the call, and at most for `limit`.
  ///
  /// It is called when a change has been committed. Where no service runs it returns at once. Cancellation ends the wait with
  /// an error.
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
      // Later changes are others' to wait for. The mark never becomes smaller.
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
