import Database

extension Migration {
  static let answerTables: [SQL] = [answerReadings, answerClients, answerTimes, heard]

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

  // A row is a number of calls: `side` 1 Apple, 2 ours, 3 ours that were only compared; `at_most` the milliseconds within
  // which they were answered, 0 for calls that got no answer. `hour_start`: when its five minutes begin; if the stage was set
  // in them, what was counted since has a row from that moment on.
  private static let answerTimes: SQL = """
    CREATE TABLE IF NOT EXISTS answer_times (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      hour_start BIGINT NOT NULL,
      side TINYINT UNSIGNED NOT NULL,
      at_most INT UNSIGNED NOT NULL,
      calls BIGINT UNSIGNED NOT NULL,
      PRIMARY KEY (app, environment, hour_start, side, at_most),
      KEY by_age (hour_start)
    ) ENGINE=InnoDB
    """

  // When the last notification of each app came.
  private static let heard: SQL = """
    CREATE TABLE IF NOT EXISTS heard (
      app INT UNSIGNED NOT NULL,
      environment TINYINT UNSIGNED NOT NULL,
      generation TINYINT UNSIGNED NOT NULL,
      heard_at BIGINT NOT NULL,
      PRIMARY KEY (app, environment, generation)
    ) ENGINE=InnoDB
    """
}
