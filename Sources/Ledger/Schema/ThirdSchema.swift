import Database

extension Migration {
  // New tables, and columns of `outbox`. MySQL cannot add a column "if it is not there", so that each ALTER asks
  // information_schema first. The binary before this one leaves all of it alone, and work of kinds that it does not know.
  static let third = Migration(
    version: 3,
    title: """
      claimed changes, renewal checks, access holds; order of the outbox; waiting user ids; counts of quarantine; whether what \
      is unproven is forwarded
      """,
    changes: (claimedChangeTables + waitingUserIDTables + [quarantineUsage, unprovenForwarding]).map { Change($0) }
      + outboxOrder + watchedHeartbeats)

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
