import Database

extension Migration {
  static let claimTables: [SQL] = [claimedLinks, claimedAliases, claimedAttributions]

  // IDs that one unsigned message names together. `message`: the smallest digest of several, in any order.
  private static let claimedLinks: SQL = """
    CREATE TABLE IF NOT EXISTS claimed_links (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      a VARBINARY(65) NOT NULL,
      b VARBINARY(65) NOT NULL,
      message BINARY(32) NOT NULL,
      PRIMARY KEY (app, environment, a, b),
      KEY by_b (app, environment, b)
    ) ENGINE=InnoDB
    """

  // Like `aliases`: the IDs that only unsigned messages assign to a purchase.
  private static let claimedAliases: SQL = """
    CREATE TABLE IF NOT EXISTS claimed_aliases (
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

  // Like `attributions`: the accounts and user IDs from only unsigned data. Indexed by value for user IDs, which have
  // no other table here. Account tokens are looked up in `claimed_aliases`.
  private static let claimedAttributions: SQL = """
    CREATE TABLE IF NOT EXISTS claimed_attributions (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      original_transaction_id VARBINARY(64) NOT NULL,
      kind TINYINT UNSIGNED NOT NULL,
      line VARBINARY(64) NOT NULL,
      value VARBINARY(255) NOT NULL,
      first_as_of BIGINT NOT NULL,
      last_as_of BIGINT NOT NULL,
      message BINARY(32) NOT NULL,
      PRIMARY KEY (app, environment, original_transaction_id, kind, line, value),
      KEY by_value (app, environment, kind, value)
    ) ENGINE=InnoDB
    """
}
