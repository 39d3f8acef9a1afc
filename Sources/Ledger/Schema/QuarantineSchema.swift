import Database

extension Migration {
  static let quarantineTables: [SQL] = [quarantineUsage, unprovenForwarding]

  private static let unprovenForwarding: SQL = """
    CREATE TABLE IF NOT EXISTS unproven_forwarding (
      app INT UNSIGNED NOT NULL PRIMARY KEY,
      policy VARBINARY(16) NOT NULL,
      changed_at BIGINT NOT NULL
    ) ENGINE=InnoDB
    """

  // Filled by the first recount, when `serve` starts.
  private static let quarantineUsage: SQL = """
    CREATE TABLE IF NOT EXISTS quarantine_usage (
      source VARBINARY(32) NOT NULL PRIMARY KEY,
      messages BIGINT NOT NULL,
      bytes BIGINT NOT NULL
    ) ENGINE=InnoDB
    """
}
