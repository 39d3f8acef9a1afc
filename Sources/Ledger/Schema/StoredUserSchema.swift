import Database

extension Migration {
  // Rows of the binary before this one were all said when they came, as 0 says.
  static let storedUsers = Migration(
    version: 16, title: "users of stored tables, and who leased which look-ups",
    changes: [
      Change(
        "ALTER TABLE claims ADD COLUMN stored TINYINT UNSIGNED NOT NULL DEFAULT 0",
        unless: """
          SELECT 1 FROM information_schema.columns
          WHERE table_schema = DATABASE() AND table_name = 'claims' AND column_name = 'stored'
          """),
      Change(
        "ALTER TABLE refund_sweeps ADD KEY in_order (app, environment, asked_at)",
        unless: """
          SELECT 1 FROM information_schema.statistics
          WHERE table_schema = DATABASE() AND table_name = 'refund_sweeps' AND index_name = 'in_order'
          """),
      Change(
        "ALTER TABLE work ADD KEY leased (owner)",
        unless: """
          SELECT 1 FROM information_schema.statistics
          WHERE table_schema = DATABASE() AND table_name = 'work' AND index_name = 'leased'
          """),
    ])
}
