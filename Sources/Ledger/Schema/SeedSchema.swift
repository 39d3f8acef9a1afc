import Database

extension Migration {
  static let seedTables: [SQL] = [seeds, claims]

  // `environment`: 0 if unknown. `kind`, `message` and `user_id` are of the first message that named the seed.
  private static let seeds: SQL = """
    CREATE TABLE IF NOT EXISTS seeds (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      transaction_id VARBINARY(64) NOT NULL,
      kind TINYINT UNSIGNED NOT NULL,
      first_seen_at BIGINT NOT NULL,
      message BINARY(32) NOT NULL,
      user_id VARBINARY(255) NULL,
      PRIMARY KEY (app, environment, transaction_id),
      KEY (app, first_seen_at)
    ) ENGINE=InnoDB
    """

  // The submission metadata of a message. 0 and NULL if not stated.
  private static let claims: SQL = """
    CREATE TABLE IF NOT EXISTS claims (
      digest BINARY(32) NOT NULL PRIMARY KEY,
      environment TINYINT UNSIGNED NOT NULL,
      user_id VARBINARY(255) NULL,
      is_stored TINYINT UNSIGNED NOT NULL DEFAULT 0
    ) ENGINE=InnoDB
    """
}
