import Database

extension Migration {
  /// What unsigned messages reported and Apple is being asked about, when subscriptions are asked about next, and for how
  /// long access is held meanwhile.
  static let claimedChangeTables: [SQL] = [claimedChanges, renewalChecks, accessHolds]

  // A row for each subscription or purchase of which an unsigned message reported a change that no signed answer has
  // settled yet; deleted when it is settled. `since` and `latest_at`: when the first and the last report were committed.
  // `changes`: how many there were, so that a look-up knows whether another came while Apple was asked. `because`:
  // UnconfirmedChange. `message`: the latest that reported something. `line`: the purchase of which a period or refund was
  // reported last, empty where none was.
  private static let claimedChanges: SQL = """
    CREATE TABLE IF NOT EXISTS claimed_changes (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      original_transaction_id VARBINARY(64) NOT NULL,
      since BIGINT NOT NULL,
      latest_at BIGINT NOT NULL,
      changes INT UNSIGNED NOT NULL,
      because TINYINT UNSIGNED NOT NULL,
      message BINARY(32) NOT NULL,
      line VARBINARY(64) NOT NULL,
      PRIMARY KEY (app, environment, original_transaction_id)
    ) ENGINE=InnoDB
    """

  // A row for each subscription that was looked up and is expected to renew. At `due_at` Apple is asked, unless something
  // signed was heard of its renewal after `known_as_of`.
  private static let renewalChecks: SQL = """
    CREATE TABLE IF NOT EXISTS renewal_checks (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      original_transaction_id VARBINARY(64) NOT NULL,
      due_at BIGINT NOT NULL,
      known_as_of BIGINT NOT NULL,
      PRIMARY KEY (app, environment, original_transaction_id),
      KEY in_order (app, environment, due_at)
    ) ENGINE=InnoDB
    """

  // An app without a row has the default hold.
  private static let accessHolds: SQL = """
    CREATE TABLE IF NOT EXISTS access_holds (
      app INT UNSIGNED NOT NULL PRIMARY KEY,
      hours SMALLINT UNSIGNED NOT NULL,
      changed_at BIGINT NOT NULL
    ) ENGINE=InnoDB
    """
}
