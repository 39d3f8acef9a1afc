import Database

extension Migration {
  static let modelTables: [SQL] = [purchaseMarks, attributions, userIDs]

  // Like `purchases`, for marks that a later statement of the same source keeps although it does not repeat them.
  private static let purchaseMarks: SQL = """
    CREATE TABLE IF NOT EXISTS purchase_marks (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      original_transaction_id VARBINARY(64) NOT NULL,
      line VARBINARY(64) NOT NULL,
      source TINYINT UNSIGNED NOT NULL,
      mark VARBINARY(32) NOT NULL,
      as_of BIGINT NOT NULL,
      facts MEDIUMBLOB NOT NULL,
      message BINARY(32) NOT NULL,
      precedence BINARY(24) NOT NULL,
      PRIMARY KEY (app, environment, original_transaction_id, line, source, mark)
    ) ENGINE=InnoDB
    """

  private static let attributions: SQL = """
    CREATE TABLE IF NOT EXISTS attributions (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      original_transaction_id VARBINARY(64) NOT NULL,
      kind TINYINT UNSIGNED NOT NULL,
      line VARBINARY(64) NOT NULL,
      value VARBINARY(255) NOT NULL,
      first_as_of BIGINT NOT NULL,
      last_as_of BIGINT NOT NULL,
      message BINARY(32) NOT NULL,
      PRIMARY KEY (app, environment, original_transaction_id, kind, line, value)
    ) ENGINE=InnoDB
    """

  // The attributions that are looked up by value, instead of a key of `attributions`. Account tokens, one for every
  // period, are looked up as aliases.
  private static let userIDs: SQL = """
    CREATE TABLE IF NOT EXISTS user_ids (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      user_id VARBINARY(255) NOT NULL,
      original_transaction_id VARBINARY(64) NOT NULL,
      PRIMARY KEY (app, environment, user_id, original_transaction_id)
    ) ENGINE=InnoDB
    """
}
