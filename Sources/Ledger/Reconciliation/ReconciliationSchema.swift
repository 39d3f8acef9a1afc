import Database

extension Migration {
  static let reconciliation: [SQL] = [completeness, reconciliations, heartbeats, refundSweeps]

  // `day`: the first millisecond of a day in UTC. The last measurement stays when Apple's history no longer covers the
  // day.
  private static let completeness: SQL = """
    CREATE TABLE IF NOT EXISTS completeness (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      measure TINYINT UNSIGNED NOT NULL,
      day BIGINT NOT NULL,
      expected INT UNSIGNED NOT NULL,
      arrived INT UNSIGNED NOT NULL,
      recovered INT UNSIGNED NOT NULL,
      refused INT UNSIGNED NOT NULL,
      measured_at BIGINT NOT NULL,
      PRIMARY KEY (app, environment, measure, day)
    ) ENGINE=InnoDB
    """

  // Claimed by an update of `claimed_at` that is committed, so that one process does the work. The next is due a period
  // after `claimed_at`. During a comparison that is the end of its lease.
  private static let reconciliations: SQL = """
    CREATE TABLE IF NOT EXISTS reconciliations (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      claimed_at BIGINT NOT NULL,
      finished_until BIGINT NULL,
      PRIMARY KEY (app, environment)
    ) ENGINE=InnoDB
    """

  // `lost_since`: the request time of the first lost test, if none came back since. `watched_at`: the last return,
  // which distinguishes a test that never came back from one that stopped.
  private static let heartbeats: SQL = """
    CREATE TABLE IF NOT EXISTS heartbeats (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      asked_at BIGINT NOT NULL,
      due_by BIGINT NOT NULL,
      token VARBINARY(255) NULL,
      returned_at BIGINT NULL,
      lost_since BIGINT NULL,
      failure VARBINARY(255) NULL,
      watched_at BIGINT NULL,
      PRIMARY KEY (app, environment)
    ) ENGINE=InnoDB
    """

  // The time of the last refund request to Apple for each customer.
  private static let refundSweeps: SQL = """
    CREATE TABLE IF NOT EXISTS refund_sweeps (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      customer VARBINARY(255) NOT NULL,
      asked_at BIGINT NOT NULL,
      PRIMARY KEY (app, environment, customer),
      KEY in_order (app, environment, asked_at)
    ) ENGINE=InnoDB
    """
}
