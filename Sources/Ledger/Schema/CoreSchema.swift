import Database

extension Migration {
  static let coreTables: [SQL] = [
    apps, appTokens, credentials, masterKeys, flags, appRecording, audit, revokedCertificates, inbox, bodies, headers,
    quarantine, purchases,
    renewals,
    appTransactions, aliases, links, customers, events, unfinishedRebuilds,
  ]

  private static let apps: SQL = """
    CREATE TABLE IF NOT EXISTS apps (
      id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
      bundle_id VARBINARY(255) NOT NULL,
      app_apple_id BIGINT UNSIGNED NULL,
      added_at BIGINT NOT NULL,
      removed_at BIGINT NULL,
      UNIQUE KEY (bundle_id)
    ) ENGINE=InnoDB
    """

  private static let appTokens: SQL = """
    CREATE TABLE IF NOT EXISTS app_tokens (
      digest BINARY(32) NOT NULL PRIMARY KEY,
      app INT UNSIGNED NOT NULL,
      label VARBINARY(255) NOT NULL,
      created_at BIGINT NOT NULL,
      revoked_at BIGINT NULL,
      KEY (app)
    ) ENGINE=InnoDB
    """

  private static let credentials: SQL = """
    CREATE TABLE IF NOT EXISTS credentials (
      app INT UNSIGNED NOT NULL,
      kind VARBINARY(32) NOT NULL,
      name VARBINARY(255) NOT NULL,
      issuer VARBINARY(255) NOT NULL,
      sealed BLOB NOT NULL,
      created_at BIGINT NOT NULL,
      retired_at BIGINT NULL,
      PRIMARY KEY (app, kind, name)
    ) ENGINE=InnoDB
    """

  // One row, with `slot` 1.
  private static let masterKeys: SQL = """
    CREATE TABLE IF NOT EXISTS master_keys (
      slot TINYINT UNSIGNED NOT NULL PRIMARY KEY,
      key_id VARBINARY(16) NOT NULL,
      since BIGINT NOT NULL
    ) ENGINE=InnoDB
    """

  // `recording_since`: the last time when recording of notifications started or stopped, 0 if it never stopped.
  // `accepted_unknown_at`, `accepted_cancelled_at`: an operator accepted the IDs without a history up to this time.
  private static let flags: SQL = """
    CREATE TABLE IF NOT EXISTS flags (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      stage VARBINARY(16) NOT NULL,
      epoch BIGINT UNSIGNED NOT NULL,
      changed_at BIGINT NOT NULL,
      ramp_share INT UNSIGNED NULL,
      ramp_salt VARBINARY(64) NULL,
      recording_since BIGINT NOT NULL DEFAULT 0,
      accepted_unknown_at BIGINT NULL,
      accepted_cancelled_at BIGINT NULL,
      PRIMARY KEY (app, environment)
    ) ENGINE=InnoDB
    """

  // Counts how often storing of Apple's messages started or stopped. Commits lock this row instead of `flags`.
  private static let appRecording: SQL = """
    CREATE TABLE IF NOT EXISTS app_recording (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      epoch BIGINT UNSIGNED NOT NULL,
      PRIMARY KEY (app, environment)
    ) ENGINE=InnoDB
    """

  // `process` and `facts` (JSON): for an entry that a running service writes automatically and announces.
  private static let audit: SQL = """
    CREATE TABLE IF NOT EXISTS audit (
      id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
      at BIGINT NOT NULL,
      actor VARBINARY(255) NOT NULL,
      action VARBINARY(64) NOT NULL,
      subject VARBINARY(255) NOT NULL,
      reason VARBINARY(1024) NOT NULL,
      process BINARY(16) NULL,
      facts BLOB NULL,
      KEY (subject, at),
      KEY (process)
    ) ENGINE=InnoDB
    """

  private static let revokedCertificates: SQL = """
    CREATE TABLE IF NOT EXISTS revoked_certificates (
      fingerprint BINARY(32) NOT NULL PRIMARY KEY,
      revoked_at BIGINT NOT NULL,
      noted_at BIGINT NOT NULL
    ) ENGINE=InnoDB
    """

  private static let inbox: SQL = """
    CREATE TABLE IF NOT EXISTS inbox (
      digest BINARY(32) NOT NULL PRIMARY KEY,
      month INT UNSIGNED NOT NULL,
      received_at BIGINT NOT NULL,
      arrival BINARY(16) NOT NULL,
      kind TINYINT UNSIGNED NOT NULL,
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      signed_at BIGINT NULL,
      title VARBINARY(128) NOT NULL,
      size INT UNSIGNED NOT NULL,
      KEY (received_at)
    ) ENGINE=InnoDB
    """

  // Separate from `inbox`: a unique key of a partitioned table must include the partition's column, but a message is
  // identified only by its digest.
  private static let bodies: SQL = """
    CREATE TABLE IF NOT EXISTS bodies (
      month INT UNSIGNED NOT NULL,
      digest BINARY(32) NOT NULL,
      body MEDIUMBLOB NOT NULL,
      PRIMARY KEY (month, digest)
    ) ENGINE=InnoDB PARTITION BY RANGE (month) (PARTITION rest VALUES LESS THAN MAXVALUE)
    """

  private static let headers: SQL = """
    CREATE TABLE IF NOT EXISTS headers (
      digest BINARY(32) NOT NULL PRIMARY KEY,
      header MEDIUMBLOB NOT NULL
    ) ENGINE=InnoDB
    """

  private static let quarantine: SQL = """
    CREATE TABLE IF NOT EXISTS quarantine (
      digest BINARY(32) NOT NULL PRIMARY KEY,
      received_at BIGINT NOT NULL,
      source VARBINARY(32) NOT NULL,
      code VARBINARY(64) NOT NULL,
      detail VARBINARY(1024) NOT NULL,
      app VARBINARY(255) NOT NULL,
      kind TINYINT UNSIGNED NOT NULL,
      body MEDIUMBLOB NOT NULL,
      size INT UNSIGNED NOT NULL,
      replays INT UNSIGNED NOT NULL DEFAULT 0,
      KEY (source, size),
      KEY (received_at)
    ) ENGINE=InnoDB
    """

  private static let purchases: SQL = """
    CREATE TABLE IF NOT EXISTS purchases (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      original_transaction_id VARBINARY(64) NOT NULL,
      line VARBINARY(64) NOT NULL,
      source TINYINT UNSIGNED NOT NULL,
      product_id VARBINARY(255) NOT NULL,
      as_of BIGINT NOT NULL,
      facts MEDIUMBLOB NOT NULL,
      message BINARY(32) NOT NULL,
      precedence BINARY(24) NOT NULL,
      PRIMARY KEY (app, environment, original_transaction_id, line, source)
    ) ENGINE=InnoDB
    """

  private static let renewals: SQL = """
    CREATE TABLE IF NOT EXISTS renewals (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      original_transaction_id VARBINARY(64) NOT NULL,
      source TINYINT UNSIGNED NOT NULL,
      as_of BIGINT NOT NULL,
      facts MEDIUMBLOB NOT NULL,
      message BINARY(32) NOT NULL,
      precedence BINARY(24) NOT NULL,
      PRIMARY KEY (app, environment, original_transaction_id, source)
    ) ENGINE=InnoDB
    """

  private static let appTransactions: SQL = """
    CREATE TABLE IF NOT EXISTS app_transactions (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      app_transaction_id VARBINARY(64) NOT NULL,
      source TINYINT UNSIGNED NOT NULL,
      as_of BIGINT NOT NULL,
      facts MEDIUMBLOB NOT NULL,
      message BINARY(32) NOT NULL,
      precedence BINARY(24) NOT NULL,
      PRIMARY KEY (app, environment, app_transaction_id, source)
    ) ENGINE=InnoDB
    """

  private static let aliases: SQL = """
    CREATE TABLE IF NOT EXISTS aliases (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      alias VARBINARY(128) NOT NULL,
      kind TINYINT UNSIGNED NOT NULL,
      original_transaction_id VARBINARY(64) NOT NULL,
      line VARBINARY(64) NOT NULL,
      first_as_of BIGINT NOT NULL,
      last_as_of BIGINT NOT NULL,
      PRIMARY KEY (app, environment, alias, kind, original_transaction_id, line)
    ) ENGINE=InnoDB
    """

  private static let links: SQL = """
    CREATE TABLE IF NOT EXISTS links (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      a VARBINARY(65) NOT NULL,
      b VARBINARY(65) NOT NULL,
      PRIMARY KEY (app, environment, a, b)
    ) ENGINE=InnoDB
    """

  // A cache of the connected components of `links`, which can be computed again at any time.
  private static let customers: SQL = """
    CREATE TABLE IF NOT EXISTS customers (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      node VARBINARY(65) NOT NULL,
      label VARBINARY(65) NOT NULL,
      PRIMARY KEY (app, environment, node),
      KEY (app, environment, label)
    ) ENGINE=InnoDB
    """

  // A row exists from just before a rebuild exchanges its tables until it has read the messages that arrived meanwhile.
  private static let unfinishedRebuilds: SQL = """
    CREATE TABLE IF NOT EXISTS unfinished_rebuilds (
      since BIGINT NOT NULL PRIMARY KEY
    ) ENGINE=InnoDB
    """

  private static let events: SQL = """
    CREATE TABLE IF NOT EXISTS events (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      id VARBINARY(64) NOT NULL,
      notification_uuid VARBINARY(64) NULL,
      notification_type VARBINARY(64) NOT NULL,
      subtype VARBINARY(64) NULL,
      original_transaction_id VARBINARY(64) NOT NULL,
      transaction_id VARBINARY(64) NULL,
      line VARBINARY(64) NULL,
      date BIGINT NOT NULL,
      source TINYINT UNSIGNED NOT NULL,
      as_of BIGINT NOT NULL,
      details MEDIUMBLOB NOT NULL,
      rule VARBINARY(16) NULL,
      message BINARY(32) NOT NULL,
      precedence BINARY(24) NOT NULL,
      PRIMARY KEY (app, environment, id),
      KEY (app, environment, original_transaction_id, date)
    ) ENGINE=InnoDB
    """
}
