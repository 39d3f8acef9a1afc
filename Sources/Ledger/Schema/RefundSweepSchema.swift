import Database

extension Migration {
  // A new table only, which the binary before this one leaves alone.
  static let refundSweeps = Migration(
    version: 15, title: "when Apple was asked for each customer's refunds",
    statements: [
      """
      CREATE TABLE IF NOT EXISTS refund_sweeps (
        app INT UNSIGNED NOT NULL,
        environment TINYINT UNSIGNED NOT NULL,
        customer VARBINARY(255) NOT NULL,
        asked_at BIGINT NOT NULL,
        PRIMARY KEY (app, environment, customer)
      ) ENGINE=InnoDB
      """
    ])
}
