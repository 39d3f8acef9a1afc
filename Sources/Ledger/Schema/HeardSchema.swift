import Database

extension Migration {
  // A new table: the binary before this one looks for the last notification in the inbox. What it takes while both run is
  // not noted here, so an app may be taken for silent until this one has heard of it: then Apple is asked.
  static let heard = Migration(
    version: 8, title: "when the last notification of each app came",
    statements: [
      """
      CREATE TABLE IF NOT EXISTS heard (
        app INT UNSIGNED NOT NULL,
        environment TINYINT UNSIGNED NOT NULL,
        generation TINYINT UNSIGNED NOT NULL,
        heard_at BIGINT NOT NULL,
        PRIMARY KEY (app, environment, generation)
      ) ENGINE=InnoDB
      """,
      // Longer ago than a notification vouches for nothing is looked for.
      """
      INSERT INTO heard (app, environment, generation, heard_at)
      SELECT app, environment, IF(title LIKE 'V1 %', 1, 2) AS generation, MAX(received_at) FROM inbox
      WHERE kind = 1 AND received_at >= (UNIX_TIMESTAMP() - 90000) * 1000
      GROUP BY app, environment, generation
      ON DUPLICATE KEY UPDATE heard_at = GREATEST(heard.heard_at, VALUES(heard_at))
      """,
    ])
}
