import Database

extension Migration {
  /// What is to be asked of Apple, what was asked, and how often Apple may be asked.
  static let workTables: [SQL] = [work, histories, budgets]

  // Leased as the outbox is: by moving `due_at` beyond the lease in a committed UPDATE. `kind`: `HistoryJobTable.Kind`. `state`:
  // 0 waiting, 1 done, 2 unknown to Apple, 3 failed. Where nobody said the environment it is the one that is asked first.
  // `is_again`: asked about before, to hear what has changed since. `begun`: of a lease whose first call was let go; until
  // then whoever waits for an answer takes it over. `unknown_in`: the environment that knows no such id, while the other
  // has not answered. `attempts`: how often an answer failed; a lease that ended by itself is none.
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

  // A row for each originalTransactionId that was in a history of Apple's.
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

  // A row for each key and process: a process writes its own alone, so that none is hot. Rates are calls in a million
  // seconds.
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
