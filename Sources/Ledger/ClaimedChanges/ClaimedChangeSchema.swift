import Database

extension Migration {
  /// The tables of unsigned changes, renewal checks and access holds.
  static let claimedChangeTables: [SQL] = [claimedChanges, renewalChecks, accessHolds]

  // A row for each subscription or purchase with a change that an unsigned message reported and no signed data has
  // settled. `since`, `latest_at`: commit times of the first and last report. `changes`: the number of reports, which
  // shows a lookup whether another arrived meanwhile. `because`: UnconfirmedChange. `message`: the latest with a
  // change. `line`: the purchase of the last reported period or refund, or empty.
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

  // A row for each subscription that was looked up and is expected to renew. A lookup is due at `due_at` unless signed
  // data about the renewal arrived after `known_as_of`.
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
