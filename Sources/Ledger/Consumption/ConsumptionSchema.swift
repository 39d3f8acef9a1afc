import Database

extension Migration {
  static let consumption = [consumptionRequests, consumptionPolicies]

  // One row for each CONSUMPTION_REQUEST, written with its message. `state`: 0 waiting, 1 answered, 2 declined, 3
  // expired, 4 refused, 5 unnamed, 6 claimed. Leased like the outbox. `answer`: the response that was sent to Apple or
  // is about to be sent.
  private static let consumptionRequests: SQL = """
    CREATE TABLE IF NOT EXISTS consumption_requests (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      id VARBINARY(64) NOT NULL,
      transaction_id VARBINARY(64) NULL,
      original_transaction_id VARBINARY(64) NULL,
      customer_reason VARBINARY(64) NULL,
      asked_at BIGINT NOT NULL,
      deadline BIGINT NOT NULL,
      message BINARY(32) NOT NULL,
      state TINYINT UNSIGNED NOT NULL DEFAULT 0,
      attempts INT UNSIGNED NOT NULL DEFAULT 0,
      due_at BIGINT NOT NULL,
      owner BINARY(16) NULL,
      answer BLOB NULL,
      reason VARBINARY(255) NULL,
      settled_at BIGINT NULL,
      PRIMARY KEY (app, environment, id),
      KEY (state, due_at),
      KEY (asked_at)
    ) ENGINE=InnoDB
    """

  private static let consumptionPolicies: SQL = """
    CREATE TABLE IF NOT EXISTS consumption_policies (
      app INT UNSIGNED NOT NULL PRIMARY KEY,
      mode VARBINARY(16) NOT NULL,
      answer BLOB NULL,
      url VARBINARY(2048) NULL,
      changed_at BIGINT NOT NULL
    ) ENGINE=InnoDB
    """
}
