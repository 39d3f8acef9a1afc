import Database

extension Migration {
  static let workTables: [SQL] = [work, histories, budgets]

  // Leased like the outbox: a committed UPDATE moves `due_at` to the end of the lease. `kind`: `HistoryJobTable.Kind`.
  // `state`: 0 waiting, 1 done, 2 unknown to Apple, 3 failed. An unknown environment is stored as the one that is tried
  // first. `is_again`: a repeated lookup, for later changes. `begun`: the lease's first call was sent. Until then a
  // waiting caller takes it over. `unknown_in`: the environment that does not know the ID, while the other has not
  // responded. `attempts`: failed responses, without expired leases.
  private static let work: SQL = """
    CREATE TABLE IF NOT EXISTS work (
      id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      kind TINYINT UNSIGNED NOT NULL,
      subject VARBINARY(64) NOT NULL,
      state TINYINT UNSIGNED NOT NULL DEFAULT 0,
      is_again TINYINT UNSIGNED NOT NULL DEFAULT 0,
      attempts INT UNSIGNED NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      due_at BIGINT NOT NULL,
      owner BINARY(16) NULL,
      begun TINYINT UNSIGNED NOT NULL DEFAULT 0,
      unknown_in TINYINT UNSIGNED NULL,
      settled_at BIGINT NULL,
      reason VARBINARY(255) NULL,
      UNIQUE KEY (app, environment, kind, subject),
      KEY in_order (app, environment, kind, state, due_at, id),
      KEY leased (owner)
    ) ENGINE=InnoDB
    """

  // A row for each originalTransactionId in one of Apple's histories.
  private static let histories: SQL = """
    CREATE TABLE IF NOT EXISTS histories (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      original_transaction_id VARBINARY(64) NOT NULL,
      revision VARBINARY(1024) NULL,
      asked_at BIGINT NOT NULL,
      held_with VARBINARY(64) NOT NULL,
      PRIMARY KEY (app, environment, original_transaction_id),
      KEY by_held_with (app, environment, held_with)
    ) ENGINE=InnoDB
    """

  // A row for each key and process. A process writes only its own, so that no row is contended. Rates are calls in a
  // million seconds.
  private static let budgets: SQL = """
    CREATE TABLE IF NOT EXISTS budgets (
      budget VARBINARY(383) NOT NULL,
      process BINARY(16) NOT NULL,
      until BIGINT NOT NULL,
      rate BIGINT NOT NULL,
      blocked_until BIGINT NULL,
      refused_rate BIGINT NULL,
      refused_at BIGINT NULL,
      taken_until BIGINT NULL,
      PRIMARY KEY (budget, process)
    ) ENGINE=InnoDB
    """
}
