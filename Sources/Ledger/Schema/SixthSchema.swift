import Database

extension Migration {
  // New tables only: the binary before this one answers no verifyReceipt and leaves them alone.
  static let sixth = Migration(
    version: 6, title: "how verifyReceipt is answered for an app", statements: [answerReadings, answerClients])

  // Rows of `answer-rules.tsv` that hold in place of the defaults.
  private static let answerReadings: SQL = """
    CREATE TABLE IF NOT EXISTS answer_readings (
      app INT UNSIGNED NOT NULL,
      reading VARBINARY(16) NOT NULL,
      changed_at BIGINT NOT NULL,
      PRIMARY KEY (app, reading)
    ) ENGINE=InnoDB
    """

  private static let answerClients: SQL = """
    CREATE TABLE IF NOT EXISTS answer_clients (
      app INT UNSIGNED NOT NULL PRIMARY KEY,
      policy VARBINARY(16) NOT NULL,
      changed_at BIGINT NOT NULL
    ) ENGINE=InnoDB
    """
}
