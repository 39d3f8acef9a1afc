import Database

extension Migration {
  // New tables, and columns of `outbox`. MySQL cannot add a column "if it is not there", so that each ALTER asks
  // information_schema first. The binary before this one leaves all of it alone, and work of kinds that it does not know.
  static let third = Migration(
    version: 3,
    title: "claimed changes, renewal checks, access holds; order of the outbox; waiting user ids; counts of quarantine",
    changes: (claimedChangeTables + waitingUserIDTables + [quarantineUsage]).map { Change($0) } + outboxOrder
      + watchedHeartbeats)

  // Filled by the first recount, when `serve` starts.
  private static let quarantineUsage: SQL = """
    CREATE TABLE IF NOT EXISTS quarantine_usage (
      source VARBINARY(32) NOT NULL PRIMARY KEY,
      messages BIGINT NOT NULL,
      bytes BIGINT NOT NULL
    ) ENGINE=InnoDB
    """
}
