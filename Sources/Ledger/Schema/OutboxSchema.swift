import Database

extension Migration {
  // A lease is a committed update that moves `due_at` to its end, so the work of a killed process becomes due again.
  // There is no shared counter and no lock that ends with a connection.
  static let outboxTables: [SQL] = [destinations, outboxRows, outboxMembers, outboxKeys, outboxTurns]

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

  // `sequence`: the order of delivery. If one row was committed before another was begun, it has the smaller number.
  // `state`: 0 waiting, 1 delivered, 2 dead. `class`: TrustLevel, 0 if not known yet. `readiness`:
  // OutboxTable.Readiness. `size`: bytes of the body, 0 if unknown. `held`: whether `due_at` is delayed because claimed
  // rows of the same customers wait.
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
      class TINYINT UNSIGNED NOT NULL DEFAULT 0,
      readiness TINYINT UNSIGNED NOT NULL DEFAULT 0,
      size INT UNSIGNED NOT NULL DEFAULT 0,
      held TINYINT UNSIGNED NOT NULL DEFAULT 0,
      UNIQUE KEY (destination, message),
      KEY (message),
      KEY in_order (destination, state, sequence),
      KEY (state, settled_at),
      KEY by_readiness (destination, state, readiness, class, due_at)
    ) ENGINE=InnoDB
    """

  // The customers' nodes that a message names, until it is delivered. Their customers are looked up when the message is
  // sent, since customers may have joined since.
  private static let outboxMembers: SQL = """
    CREATE TABLE IF NOT EXISTS outbox_members (
      destination INT UNSIGNED NOT NULL,
      member VARBINARY(65) NOT NULL,
      sequence BIGINT UNSIGNED NOT NULL,
      PRIMARY KEY (destination, member, sequence),
      KEY (sequence)
    ) ENGINE=InnoDB
    """

  // The order of delivery: a waiting row has a key for the label of each customer that it names. The smallest sequence
  // of a customer goes first. A proven row waits for claimed ones (`class`) for at most a minute after `enqueued_at`.
  // Rows that are delivered, dead or unproven have no key.
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

  // The row that serializes the changes of a destination. It is written, not only locked, so that two changes on two
  // nodes of a Galera cluster conflict too. `rekey_after`, `rekey_through`: waiting rows with a sequence between them
  // have keys of customers from before a rebuild.
  private static let outboxTurns: SQL = """
    CREATE TABLE IF NOT EXISTS outbox_turns (
      destination INT UNSIGNED NOT NULL PRIMARY KEY,
      number BIGINT UNSIGNED NOT NULL,
      rekey_after BIGINT UNSIGNED NULL,
      rekey_through BIGINT UNSIGNED NULL
    ) ENGINE=InnoDB
    """
}
