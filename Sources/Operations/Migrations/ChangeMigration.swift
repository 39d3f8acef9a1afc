package import Database
import JSON
package import Ledger
package import Runtime
package import Time

package struct ChangeMigration: Sendable {
  package enum Change: Sendable {
    case pause
    case resume
    case cancel
    case throttle(MigrationSettings)

    var action: StaticString {
      switch self {
      case .pause: "migration.pause"
      case .resume: "migration.resume"
      case .cancel: "migration.cancel"
      case .throttle: "migration.throttle"
      }
    }
  }

  private let id: Int
  private let change: Change

  package init(_ change: Change, of id: Int) { (self.id, self.change) = (id, change) }

  /// Returns the job before the change.
  ///
  /// Throws if the change is impossible.
  package func plan(on connection: Connection) async throws -> MigrationJob {
    let id = id
    let job = try await connection.read { session throws(DatabaseError) in try MigrationJobTable.find(id, in: session) }
    guard let job else { throw NoSuchMigration(id: id) }
    guard isPossible(job.state) else { throw MigrationNotChanged(id: id, state: job.state, change: change) }
    return job
  }

  /// Makes the change and returns the changed job.
  ///
  /// Throws `MigrationNotChanged` if the job has changed since the plan.
  package func apply(
    _ plan: MigrationJob, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws -> MigrationJob {
    let (id, change) = (id, change)
    let (job, isDone) = try await connection.transaction { session throws(DatabaseError) -> (MigrationJob?, Bool) in
      let isDone: Bool
      switch change {
      case .pause:
        isDone = try MigrationJobTable.move(
          id, from: [.running], to: .paused, because: author.reason, at: now, in: session)
      case .resume:
        isDone = try MigrationJobTable.move(id, from: [.paused, .failed], to: .running, at: now, in: session)
      case .cancel:
        isDone = try MigrationJobTable.move(
          id, from: [.running, .paused, .failed], to: .cancelled, at: now, in: session)
      case .throttle(let settings): isDone = try MigrationJobTable.set(settings, of: id, in: session)
      }
      if isDone { try author.note(change.action, of: "migration \(id)", change.told, at: now, in: session) }
      return (try MigrationJobTable.find(id, in: session), isDone)
    }
    guard let job else { throw NoSuchMigration(id: id) }
    guard isDone else { throw MigrationNotChanged(id: id, state: job.state, change: change) }
    return job
  }

  private func isPossible(_ state: MigrationJob.State) -> Bool {
    switch change {
    case .pause: state == .running
    case .resume: state == .paused || state == .failed
    case .cancel, .throttle: !state.isFinal
    }
  }
}

extension ChangeMigration.Change {
  fileprivate var told: String {
    switch self {
    case .pause: "paused"
    case .resume: "resumed"
    case .cancel: "cancelled"
    case .throttle(let settings): String(decoding: settings.json.encoded(), as: UTF8.self)
    }
  }
}

package struct NoSuchMigration: ExitStatusError, CustomStringConvertible {
  package let id: Int

  package init(id: Int) { self.id = id }

  package var exitStatus: ExitStatus { .failed }
  package var description: String { "there is no migration \(id); see `switchyard migrate status`" }
}

/// An error: the change is impossible in the job's state.
package struct MigrationNotChanged: ExitStatusError, CustomStringConvertible {
  package let id: Int
  package let state: MigrationJob.State
  let change: ChangeMigration.Change

  package var exitStatus: ExitStatus { .failed }
  package var description: String {
    let wanted =
      switch change {
      case .pause: "only a running one can be paused"
      case .resume: "only a paused or failed one can be resumed"
      case .cancel, .throttle: "it has ended"
      }
    return "migration \(id) is \(state.name): \(wanted)"
  }
}
