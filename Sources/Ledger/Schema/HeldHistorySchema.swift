import Database

extension Migration {
  // A column that is NULL in what the binary before this one writes, which then knows nothing of it: such a history is
  // taken as before, as one of a linked customer.
  static let heldHistories = Migration(
    version: 7, title: "which ids a history of Apple's held together",
    changes: [
      Change(
        """
        ALTER TABLE histories ADD COLUMN held_with VARBINARY(64) NULL,
          ADD KEY by_held_with (app, environment, held_with)
        """,
        unless: """
          SELECT 1 FROM information_schema.columns
          WHERE table_schema = DATABASE() AND table_name = 'histories' AND column_name = 'held_with'
          """)
    ])
}
