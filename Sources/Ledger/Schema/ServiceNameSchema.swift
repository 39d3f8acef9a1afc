import Database

extension Migration {
  // Columns that may be NULL, which the binary before this one neither reads nor writes. `name`: the host and the process id,
  // as in `web-1:4121`; `version`: of the program.
  static let serviceNames = Migration(
    version: 14, title: "which running service is which, and of which version",
    changes: [
      Change(
        "ALTER TABLE processes ADD COLUMN name VARBINARY(255) NULL, ADD COLUMN version VARBINARY(64) NULL",
        unless: """
          SELECT 1 FROM information_schema.columns
          WHERE table_schema = DATABASE() AND table_name = 'processes' AND column_name = 'version'
          """)
    ])
}
