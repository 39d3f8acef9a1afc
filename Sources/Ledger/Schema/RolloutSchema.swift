import Database

extension Migration {
  static let rolloutTables: [SQL] = [
    buckets, comparisons, comparisonBodies, guards, processes,
  ]

  // A customer's bucket under each originalTransactionId of its decision. The smallest one of a customer counts.
  // `is_chosen`: an operator put the customer into bucket 0.
  private static let buckets: SQL = """
    CREATE TABLE IF NOT EXISTS buckets (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      original_transaction_id VARBINARY(64) NOT NULL,
      bucket SMALLINT UNSIGNED NOT NULL,
      is_chosen TINYINT UNSIGNED NOT NULL DEFAULT 0,
      decided_at BIGINT NOT NULL,
      PRIMARY KEY (app, environment, original_transaction_id)
    ) ENGINE=InnoDB
    """

  // `customer` and `receipt`: prefixes of digests, since one customer's receipt counts once in a window. `counts`:
  // whether its impact counts for the guard. `differences` and `impact` are JSON, empty if the responses are equal.
  // `state`: 0 reviewed once, 1 reviewed again.
  private static let comparisons: SQL = """
    CREATE TABLE IF NOT EXISTS comparisons (
      id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      window_start BIGINT NOT NULL,
      customer BINARY(16) NOT NULL,
      receipt BINARY(16) NOT NULL,
      compared_at BIGINT NOT NULL,
      epoch BIGINT UNSIGNED NOT NULL,
      cause VARBINARY(16) NOT NULL,
      counts TINYINT UNSIGNED NOT NULL,
      differences MEDIUMBLOB NOT NULL,
      impact BLOB NULL,
      state TINYINT UNSIGNED NOT NULL DEFAULT 0,
      settle_at BIGINT NULL,
      UNIQUE KEY voice (app, environment, window_start, customer, receipt),
      KEY by_time (app, environment, compared_at),
      KEY to_settle (settle_at),
      KEY by_age (compared_at)
    ) ENGINE=InnoDB
    """

  // Both responses and the input of Switchyard's response, sealed.
  private static let comparisonBodies: SQL = """
    CREATE TABLE IF NOT EXISTS comparison_bodies (
      comparison BIGINT UNSIGNED NOT NULL PRIMARY KEY,
      kept_until BIGINT NOT NULL,
      sealed LONGBLOB NOT NULL,
      KEY (kept_until)
    ) ENGINE=InnoDB
    """

  // The limits that return an app to `shadow`. Without a row the build's defaults apply. `most_impact`, `most_errors`:
  // in a million. `most_latency`: in hundredths of Apple's. 0 disables either of the last two.
  private static let guards: SQL = """
    CREATE TABLE IF NOT EXISTS guards (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      most_impact INT UNSIGNED NOT NULL,
      window_seconds INT UNSIGNED NOT NULL,
      least_customers INT UNSIGNED NOT NULL,
      changed_at BIGINT NOT NULL,
      most_errors INT UNSIGNED NOT NULL DEFAULT 10000,
      most_latency INT UNSIGNED NOT NULL DEFAULT 200,
      least_calls INT UNSIGNED NOT NULL DEFAULT 200,
      PRIMARY KEY (app, environment)
    ) ENGINE=InnoDB
    """

  // A row for each running service, which writes only its own row. `mark`: of the stages that it uses. `name`: the host
  // and the process ID, as in `web-1:4121`. `version`: of the program.
  private static let processes: SQL = """
    CREATE TABLE IF NOT EXISTS processes (
      process BINARY(16) NOT NULL PRIMARY KEY,
      mark BIGINT NOT NULL,
      seen_at BIGINT NOT NULL,
      name VARBINARY(255) NULL,
      KEY (seen_at)
    ) ENGINE=InnoDB
    """
}
