import Database

extension Migration {
  // A new table: the binary before this one counts no times and leaves it alone. A row is a number of calls: `side` 1 Apple,
  // 2 ours, 3 ours that were only compared; `at_most` the milliseconds within which they were answered, 0 for calls that got
  // no answer. `hour_start`: when its five minutes begin; if the stage was set in them, what was counted since has a row from
  // that moment on.
  static let answerTimes = Migration(
    version: 11, title: "how long Apple and Switchyard take to answer verifyReceipt",
    statements: [
      """
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
    ])
}
