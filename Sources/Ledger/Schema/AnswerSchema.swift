import Database

extension Migration {
  static let answerTables: [SQL] = [answerReadings, answerClients, answerTimes, heard]

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

  // A row counts calls. `side`: 1 Apple, 2 Switchyard, 3 Switchyard only for comparison. `at_most`: the response time
  // in milliseconds, 0 for failed calls. `hour_start`: the beginning of the five minutes. If the stage was set in them,
  // later calls have a row from that moment on.
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
