package import Database
import JSON
package import Purchases
package import Time

package enum MigrationJobTable {
  package struct NewPart: Sendable {
    package let source: String
    package let sealed: [UInt8]?
    package let size: Int64?

    package init(source: String, sealed: [UInt8]? = nil, size: Int64?) {
      (self.source, self.sealed, self.size) = (source, sealed, size)
    }
  }

  package static func add(
    _ parts: [NewPart], app: App?, environment: Environment?, settings: MigrationSettings, by author: String,
    at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    let added = try session.execute(
      """
      INSERT INTO migration_jobs (state, created_at, created_by, app, environment, settings)
      VALUES (\(MigrationJob.State.running.rawValue), \(now), \(author.cut(to: 255)), \(app?.id.number),
        \(environment?.code), \(settings.json.encoded()))
      """)
    let job = Int(added.lastInsertID)
    for (index, part) in parts.enumerated() {
      _ = try session.execute(
        """
        INSERT INTO migration_parts (job, number, source, sealed, size)
        VALUES (\(job), \(index + 1), \(part.source), \(part.sealed), \(part.size))
        """)
    }
    return job
  }

  package static func find(_ id: Int, in session: borrowing Session) throws(DatabaseError) -> MigrationJob? {
    try read("WHERE id = \(id)", in: session).first
  }

  /// Returns the jobs in these states, oldest first.
  package static func all(
    _ states: [MigrationJob.State] = MigrationJob.State.allCases, limit: Int = 1_000, in session: borrowing Session
  ) throws(DatabaseError) -> [MigrationJob] {
    try read("WHERE state IN (\(list: states.map(\.rawValue))) ORDER BY id LIMIT \(limit)", in: session)
  }

  /// Changes the state of a job and returns true, if the job is in one of the states `before`.
  package static func move(
    _ id: Int, from before: [MigrationJob.State], to state: MigrationJob.State, because trouble: String? = nil,
    at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    let finished = state.isFinal ? now : nil
    let moved = try session.execute(
      """
      UPDATE migration_jobs SET state = \(state.rawValue), finished_at = \(finished),
        trouble = \(trouble?.cut(to: 1_024))
      WHERE id = \(id) AND state IN (\(list: before.map(\.rawValue)))
      """)
    guard state == .running, moved.affectedRows == 1 else { return moved.affectedRows == 1 }
    _ = try session.execute(
      "UPDATE migration_parts SET retry_at = 0, trouble = NULL WHERE job = \(id) AND state = 0")
    return true
  }

  /// Changes the settings of a job and returns true, unless the job has ended.
  package static func set(
    _ settings: MigrationSettings, of id: Int, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    // Unchanged settings would count as no affected row.
    let row = try session.query("SELECT state FROM migration_jobs WHERE id = \(id) FOR UPDATE").first
    guard let row, try !state(of: row).isFinal else { return false }
    _ = try session.execute("UPDATE migration_jobs SET settings = \(settings.json.encoded()) WHERE id = \(id)")
    return true
  }

  /// Returns the state of a job and locks it until the transaction ends.
  ///
  /// `nil` if there is no such job.
  static func held(_ id: Int, in session: borrowing Session) throws(DatabaseError) -> MigrationJob.State? {
    let row = try session.query("SELECT state FROM migration_jobs WHERE id = \(id) LOCK IN SHARE MODE").first
    guard let row else { return nil }
    return try state(of: row)
  }

  private static func read(_ selection: SQL, in session: borrowing Session) throws(DatabaseError) -> [MigrationJob] {
    var jobs: [MigrationJob] = []
    for row in try session.query(
      """
      SELECT id, state, created_at, created_by, finished_at, app, environment, settings, trouble
      FROM migration_jobs \(selection)
      """)
    {
      let settings = (try? JSONReader.read(try row.bytes("settings")))?.object ?? [:]
      jobs.append(
        MigrationJob(
          id: try row.int("id"), state: try state(of: row), createdAt: try row.milliseconds("created_at"),
          createdBy: try row.text("created_by"), finishedAt: try row.optionalMilliseconds("finished_at"),
          app: try row.optionalInt("app").map { App.ID($0) },
          environment: try row.optionalInt("environment").map { code throws(DatabaseError) in
            try Environment(code: code)
          }, settings: MigrationSettings(settings), trouble: try row.optionalText("trouble")))
    }
    return jobs
  }

  private static func state(of row: Row) throws(DatabaseError) -> MigrationJob.State {
    guard let state = MigrationJob.State(rawValue: try row.int("state")) else {
      throw DatabaseError(.column, "a migration in a state that this build does not know: \(try row.int("state"))")
    }
    return state
  }
}
