package import Database
package import Time

/// Migrates a database to this build's schema, and reports whether this build can use it.
package struct Migrator: Sendable {
  package struct Status: Hashable, Sendable {
    /// 0 for an empty database.
    package let installed: Int
    package let known: Int
    /// The first version that can be migrated.
    fileprivate let oldest: Int

    package var isCurrent: Bool { installed == known }
    /// Whether `migrate` can make it current.
    ///
    /// If not, another build created the database.
    package var isOlder: Bool { installed < known && (installed == 0 || installed >= oldest) }
  }

  private let migrations: [Migration]

  package init(_ migrations: [Migration] = Migration.all) { self.migrations = migrations }

  /// Reads the status without changes, so that a read-only account suffices.
  package func status(in session: borrowing Session) throws(DatabaseError) -> Status {
    let (oldest, known) = (migrations.first?.version ?? 0, migrations.last?.version ?? 0)
    let tables = try session.query(
      """
      SELECT COUNT(*) AS count FROM information_schema.tables
      WHERE table_schema = DATABASE() AND table_name = 'schema_versions'
      """)
    guard try tables.first?.int("count") == 1 else { return Status(installed: 0, known: known, oldest: oldest) }
    let rows = try session.query("SELECT COALESCE(MAX(version), 0) AS version FROM schema_versions")
    return Status(installed: try rows.first?.int("version") ?? 0, known: known, oldest: oldest)
  }

  /// Runs the missing steps and returns them.
  ///
  /// Repeated and concurrent calls are safe. A cancelled task stops between two steps.
  package func migrate(at now: Timestamp, in session: borrowing Session) throws(DatabaseError) -> [Migration] {
    try session.run(Self.table)
    let status = try status(in: session)
    guard status.isOlder else { return [] }
    var run: [Migration] = []
    for migration in migrations where migration.version > status.installed {
      if Task.isCancelled { break }
      for statement in migration.statements { try session.run(statement) }
      _ = try session.execute(
        """
        INSERT INTO schema_versions (version, title, applied_at) VALUES (\(migration.version), \(migration.title), \(now))
        ON DUPLICATE KEY UPDATE version = VALUES(version)
        """)
      run.append(migration)
    }
    return run
  }

  private static let table: SQL = """
    CREATE TABLE IF NOT EXISTS schema_versions (
      version INT UNSIGNED NOT NULL PRIMARY KEY,
      title VARBINARY(255) NOT NULL,
      applied_at BIGINT NOT NULL
    ) ENGINE=InnoDB
    """
}
