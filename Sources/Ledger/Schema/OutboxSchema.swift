import Database

extension Migration {
  // Work is leased by moving `due_at` beyond the lease in a committed UPDATE: what a killed process held is simply due
  // again. No counter is shared, and nothing depends on locks that end with a connection.
  static let outboxTables: [SQL] = [destinations, outboxRows, outboxMembers]

  private static let destinations: SQL = """
    CREATE TABLE IF NOT EXISTS destinations (
      id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      name VARBINARY(64) NOT NULL,
      url VARBINARY(2048) NOT NULL,
      form VARBINARY(16) NOT NULL,
      enabled TINYINT UNSIGNED NOT NULL,
      created_at BIGINT NOT NULL,
      changed_at BIGINT NOT NULL,
      UNIQUE KEY (app, environment, name)
    ) ENGINE=InnoDB
    """

  // `sequence` is the order of delivery: of two rows of which one was committed before the other was begun it is the
  // smaller. `state`: 0 waiting, 1 delivered, 2 dead.
  private static let outboxRows: SQL = """
    CREATE TABLE IF NOT EXISTS outbox (
      sequence BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
      destination INT UNSIGNED NOT NULL,
      message BINARY(32) NOT NULL,
      state TINYINT UNSIGNED NOT NULL DEFAULT 0,
      attempts INT UNSIGNED NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      due_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      owner BINARY(16) NULL,
      settled_at BIGINT NULL,
      error VARBINARY(255) NULL,
      UNIQUE KEY (destination, message),
      KEY (message),
      KEY in_order (destination, state, sequence),
      KEY (state, settled_at)
    ) ENGINE=InnoDB
    """

  // The customers' nodes that a message names, for as long as it is not delivered: who they belong to is looked up
  // when a message is to be sent, since customers may have joined since.
  private static let outboxMembers: SQL = """
    CREATE TABLE IF NOT EXISTS outbox_members (
      destination INT UNSIGNED NOT NULL,
      member VARBINARY(65) NOT NULL,
      sequence BIGINT UNSIGNED NOT NULL,
      PRIMARY KEY (destination, member, sequence),
      KEY (sequence)
    ) ENGINE=InnoDB
    """

  // What schema 3 adds. No column has to be filled: a row with `readiness` 0 (one that waited before, or was written by
  // an older binary) is sorted by the delivery, a few hundred at a time, before anything newer is sent.
  static let outboxOrder: [Change] = [
    Change(outboxKeys), Change(outboxTurns),
    Change(
      outboxColumns,
      unless: """
        SELECT 1 FROM information_schema.columns
        WHERE table_schema = DATABASE() AND table_name = 'outbox' AND column_name = 'readiness'
        """),
    Change(
      outboxIndex,
      unless: """
        SELECT 1 FROM information_schema.statistics
        WHERE table_schema = DATABASE() AND table_name = 'outbox' AND index_name = 'by_readiness'
        """),
  ]

  // The order of delivery: a waiting row has a key for each customer it names, called by the customer's label. The
  // smallest sequence of a customer goes first; a proven row waits for claimed ones (`class`) for a minute after
  // `enqueued_at` at most. Rows that are delivered, dead or unproven have none.
  private static let outboxKeys: SQL = """
    CREATE TABLE IF NOT EXISTS outbox_keys (
      destination INT UNSIGNED NOT NULL,
      customer VARBINARY(65) NOT NULL,
      class TINYINT UNSIGNED NOT NULL,
      sequence BIGINT UNSIGNED NOT NULL,
      enqueued_at BIGINT NOT NULL,
      PRIMARY KEY (destination, customer, class, sequence),
      KEY by_sequence (sequence)
    ) ENGINE=InnoDB
    """

  // The row that serialises the turns of a destination. It is written, not only locked, so that two turns on two nodes
  // of a Galera cluster conflict as well. `rekey_after`, `rekey_through`: waiting rows with a sequence between them have
  // keys of customers as they were before a rebuild.
  private static let outboxTurns: SQL = """
    CREATE TABLE IF NOT EXISTS outbox_turns (
      destination INT UNSIGNED NOT NULL PRIMARY KEY,
      number BIGINT UNSIGNED NOT NULL,
      rekey_after BIGINT UNSIGNED NULL,
      rekey_through BIGINT UNSIGNED NULL
    ) ENGINE=InnoDB
    """

  // `class`: ProofClass, 0 when not known yet. `readiness`: OutboxTable.Readiness. `size`: bytes of the body, 0 when not
  // known. `held`: whether `due_at` is put off because claimed rows of the same customers wait. Adding columns with a default is instant on MariaDB 10.3 and MySQL 8.0.12.
  private static let outboxColumns: SQL = """
    ALTER TABLE outbox
      ADD COLUMN class TINYINT UNSIGNED NOT NULL DEFAULT 0,
      ADD COLUMN readiness TINYINT UNSIGNED NOT NULL DEFAULT 0,
      ADD COLUMN size INT UNSIGNED NOT NULL DEFAULT 0,
      ADD COLUMN held TINYINT UNSIGNED NOT NULL DEFAULT 0
    """

  // On its own: together with the columns it would make the server copy the table.
  private static let outboxIndex: SQL = """
    ALTER TABLE outbox ADD INDEX by_readiness (destination, state, readiness, class, due_at)
    """
}
