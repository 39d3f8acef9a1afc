import Database

/// One step of the schema, forward only.
///
/// Every statement can run twice, since DDL commits immediately: an interrupted migration is run again.
package struct Migration: Sendable {
  package let version: Int
  package let title: String
  let statements: [SQL]

  package static let all = [first]

  // Raise the version whenever a statement changes before the first release: SchemaTests compare a digest. Earlier
  // builds used 1 to 16. IDs and keys are VARBINARY, which every server compares byte by byte. Times are milliseconds
  // since 1970. Apple's data is stored as bytes, not in a JSON column: MySQL reorders keys. `precedence` is Rank as 24
  // bytes in sort order. Every assignment of an upsert compares it, so it is assigned last. Each part's tables are in a
  // separate file.
  static let first = Migration(
    version: 17, title: "first",
    statements: coreTables + modelTables + outboxTables + seedTables + reconciliation + consumption
      + workTables + claimedChangeTables + waitingUserIDTables + quarantineTables + claimTables
      + answerTables + rolloutTables + migrationTables)
}
