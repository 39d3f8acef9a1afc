import Database

extension Migration {
  // A column that may be NULL, which the binary before this one neither reads nor writes. `message`: the digest under which
  // the inbox has the content; NULL for a content of which nothing is stored, and in rows of that binary.
  static let migrationMessages = Migration(
    version: 13, title: "which message holds a receipt of a bulk migration",
    changes: [
      Change(
        "ALTER TABLE migration_receipts ADD COLUMN message BINARY(32) NULL",
        unless: """
          SELECT 1 FROM information_schema.columns
          WHERE table_schema = DATABASE() AND table_name = 'migration_receipts' AND column_name = 'message'
          """)
    ])
}
