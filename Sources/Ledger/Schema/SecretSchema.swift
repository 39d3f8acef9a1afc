import Database

extension Migration {
  static let secretTables: [SQL] = [secretSearches]

  // A row for each part that is searched. `secrets`: for which set of secrets. `position`: the key of the last row that
  // was done, `finished_at`: NULL while there are more.
  private static let secretSearches: SQL = """
    CREATE TABLE IF NOT EXISTS secret_searches (
      part VARBINARY(32) NOT NULL PRIMARY KEY,
      secrets BINARY(32) NOT NULL,
      position VARBINARY(64) NOT NULL,
      searched BIGINT NOT NULL,
      changed BIGINT NOT NULL,
      started_at BIGINT NOT NULL,
      finished_at BIGINT NULL
    ) ENGINE=InnoDB
    """
}
