import Database

extension Migration {
  static let migrationTables: [SQL] = [jobs, parts, handOuts, accounts, receipts, links, ids, rejects]

  // `state`: 1 running, 2 paused, 3 done, 4 cancelled, 5 failed. `settings`: the operator's settings, in JSON.
  private static let jobs: SQL = """
    CREATE TABLE IF NOT EXISTS migration_jobs (
      id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
      state TINYINT UNSIGNED NOT NULL,
      created_at BIGINT NOT NULL,
      created_by VARBINARY(255) NOT NULL,
      finished_at BIGINT NULL,
      app INT UNSIGNED NULL,
      environment TINYINT UNSIGNED NULL,
      settings MEDIUMBLOB NOT NULL,
      trouble VARBINARY(1024) NULL,
      KEY (state)
    ) ENGINE=InnoDB
    """

  // A part of the sources that one process reads at a time. `file`, `position`, `row_key`: the position up to which its
  // rows are in the ledger. `source`: JSON without passwords. `sealed`: the password, if any. `state`: 0 open, 1 done.
  private static let parts: SQL = """
    CREATE TABLE IF NOT EXISTS migration_parts (
      job INT UNSIGNED NOT NULL,
      number INT UNSIGNED NOT NULL,
      source MEDIUMBLOB NOT NULL,
      sealed VARBINARY(4096) NULL,
      size BIGINT NULL,
      state TINYINT UNSIGNED NOT NULL DEFAULT 0,
      owner BINARY(16) NULL,
      lease_until BIGINT NOT NULL DEFAULT 0,
      retry_at BIGINT NOT NULL DEFAULT 0,
      file VARBINARY(4096) NULL,
      position BIGINT NOT NULL DEFAULT 0,
      row_key VARBINARY(1024) NULL,
      rows_in BIGINT NOT NULL DEFAULT 0,
      bytes_read BIGINT NOT NULL DEFAULT 0,
      trouble VARBINARY(1024) NULL,
      PRIMARY KEY (job, number)
    ) ENGINE=InnoDB
    """

  private static let handOuts: SQL = """
    CREATE TABLE IF NOT EXISTS migration_hand_outs (
      job INT UNSIGNED NOT NULL PRIMARY KEY,
      owner BINARY(16) NOT NULL,
      lease_until BIGINT NOT NULL
    ) ENGINE=InnoDB
    """

  // A part writes only its own rows. Part 0 belongs to the process that hands out the IDs. `app`, `environment`: 0 if
  // unknown.
  private static let accounts: SQL = """
    CREATE TABLE IF NOT EXISTS migration_accounts (
      job INT UNSIGNED NOT NULL,
      part INT UNSIGNED NOT NULL,
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      outcome VARBINARY(64) NOT NULL,
      count BIGINT NOT NULL,
      PRIMARY KEY (job, part, app, environment, outcome)
    ) ENGINE=InnoDB
    """

  // `digest`: of the content, regardless of its encoding. `mark`: of the transaction that wrote the row. `first_user`:
  // half a SHA-256 of the first user's ID. `message`: the digest of the content in the inbox, or NULL if no content is
  // stored.
  private static let receipts: SQL = """
    CREATE TABLE IF NOT EXISTS migration_receipts (
      job INT UNSIGNED NOT NULL,
      digest BINARY(16) NOT NULL,
      mark BINARY(8) NOT NULL,
      first_user BINARY(16) NULL,
      message BINARY(32) NULL,
      PRIMARY KEY (job, digest)
    ) ENGINE=InnoDB
    """

  private static let links: SQL = """
    CREATE TABLE IF NOT EXISTS migration_links (
      job INT UNSIGNED NOT NULL,
      digest BINARY(16) NOT NULL,
      user BINARY(16) NOT NULL,
      PRIMARY KEY (job, digest, user)
    ) ENGINE=InnoDB
    """

  // `environment`: 0 if unknown. `state`: 0 to hand out, 1 asked, 2 settled, 3 unknown to Apple, 4 failed. `priority`:
  // 0 for a probably active customer, 1 for others.
  private static let ids: SQL = """
    CREATE TABLE IF NOT EXISTS migration_ids (
      job INT UNSIGNED NOT NULL,
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      id VARBINARY(64) NOT NULL,
      state TINYINT UNSIGNED NOT NULL DEFAULT 0,
      priority TINYINT UNSIGNED NOT NULL,
      PRIMARY KEY (job, app, environment, id),
      KEY by_state (job, state, app, environment, priority, id)
    ) ENGINE=InnoDB
    """

  // The position of a rejected row in its source, never the row itself, which may hold secrets.
  private static let rejects: SQL = """
    CREATE TABLE IF NOT EXISTS migration_rejects (
      number BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
      job INT UNSIGNED NOT NULL,
      part INT UNSIGNED NOT NULL,
      file VARBINARY(4096) NULL,
      position BIGINT NOT NULL,
      row_key VARBINARY(1024) NULL,
      line BIGINT NOT NULL,
      reason VARBINARY(64) NOT NULL,
      KEY (job, part, number)
    ) ENGINE=InnoDB
    """
}
