import Database

extension Migration {
  // Columns with a default, which the binary before this one neither reads nor writes: what it sets leaves these
  // thresholds as they are. `most_errors`: in a million; `most_latency`: in hundredths of Apple's; 0 turns either off.
  static let guardThresholds = Migration(
    version: 12, title: "guards that also look at errors and latency",
    changes: [
      Change(
        """
        ALTER TABLE guards ADD COLUMN most_errors INT UNSIGNED NOT NULL DEFAULT 10000,
          ADD COLUMN most_latency INT UNSIGNED NOT NULL DEFAULT 200,
          ADD COLUMN least_calls INT UNSIGNED NOT NULL DEFAULT 200
        """,
        unless: """
          SELECT 1 FROM information_schema.columns
          WHERE table_schema = DATABASE() AND table_name = 'guards' AND column_name = 'most_errors'
          """)
    ])
}
