import Database

/// One step of the schema; forward only.
///
/// Every statement can run twice, since DDL commits on its own: a migration that was cut off is simply run again.
package struct Migration: Sendable {
  package let version: Int
  /// What it brings, in an operator's words.
  package let title: String
  let statements: [SQL]

  /// Every step so far, in order.
  package static let all = [first]

  // The version is raised whenever a statement changes before the first release: SchemaTests compare a digest. 1 to 16 were
  // those of earlier builds. Ids and keys are VARBINARY: compared byte by byte on every server. Times are milliseconds since 1970. What Apple
  // said is kept as bytes, not as a JSON column: MySQL reorders keys. `precedence` is Rank as 24 bytes in sort order;
  // it is compared in every assignment of an upsert and assigned last. Each part's tables are in a file of its own.
  static let first = Migration(
    version: 17, title: "first",
    statements: coreTables + modelTables + outboxTables + seedTables + reconciliation + consumption
      + workTables + claimedChangeTables + waitingUserIDTables + quarantineTables + claimTables
      + answerTables + rolloutTables + migrationTables)
}
