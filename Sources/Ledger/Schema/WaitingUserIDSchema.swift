import Database

extension Migration {
  static let waitingUserIDTables: [SQL] = [waitingUserIDs]

  // `environment`: 0 if unknown. Attributed rows stay, so that a rebuild creates the same rows.
  private static let waitingUserIDs: SQL = """
    CREATE TABLE IF NOT EXISTS waiting_user_ids (
      app INT UNSIGNED NOT NULL,
      transaction_id VARBINARY(64) NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      user_id VARBINARY(255) NOT NULL,
      first_as_of BIGINT NOT NULL,
      last_as_of BIGINT NOT NULL,
      message BINARY(32) NOT NULL,
      PRIMARY KEY (app, transaction_id, environment, user_id)
    ) ENGINE=InnoDB
    """
}
