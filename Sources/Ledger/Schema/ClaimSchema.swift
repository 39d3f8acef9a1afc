import Database

extension Migration {
  static let claimTables: [SQL] = [claimedLinks, claimedAliases, claimedAttributions]

  // Ids that one unsigned message names together. `message`: of several the smallest digest, whatever their order.
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

  // As `aliases`: the ids that only unsigned messages give to a purchase.
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

  // As `attributions`: the accounts and user ids that rest on unsigned data alone. By value for user ids, which have no
  // other table here; account tokens are looked up in `claimed_aliases`.
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
