extension Migration {
  // New tables and no new columns: MySQL cannot add a column "if it is not there". Each part's tables are in a file of
  // its own.
  static let second = Migration(
    version: 2,
    title: "outbox, marks, accounts, policies, seeds, claims, work, certificates, reconciliation, consumption",
    statements: outboxTables + modelTables + seedTables + [certificates] + reconciliation + consumption + workTables)
}
