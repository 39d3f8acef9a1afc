import Database

extension Migration {
  /// What keeping up with Apple remembers; none of it is derived from the inbox.
  static let reconciliation: [SQL] = [completeness, reconciliations, heartbeats, refundSweeps]

  // `day` is the first millisecond of a day in UTC. What Apple's history no longer tells stays as it was measured last.
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

  // Claimed by moving `claimed_at` in a committed UPDATE: of several processes one does the work. The next is due a period
  // after `claimed_at`; while one is made that is the end of its lease.
  private static let reconciliations: SQL = """
    CREATE TABLE IF NOT EXISTS reconciliations (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      claimed_at BIGINT NOT NULL,
      finished_until BIGINT NULL,
      PRIMARY KEY (app, environment)
    ) ENGINE=InnoDB
    """

  // `lost_since`: when the first test was asked for that did not come back; none that came back since. `watched_at`: when the
  // last one came back, so that one that never could is told from one that does no longer.
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

  // When Apple was asked for each customer's refunds.
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
