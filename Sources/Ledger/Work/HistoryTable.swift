package import Database
import Purchases
package import Time

/// `histories`: the originalTransactionIds in Apple's histories, and the revision of each.
package enum HistoryTable {
  private static let upsert = BulkInsert(
    into: "INSERT INTO histories (app, environment, original_transaction_id, revision, asked_at, held_with) VALUES",
    then: """
      ON DUPLICATE KEY UPDATE
        revision = IF(VALUES(asked_at) >= asked_at, VALUES(revision), revision),
        asked_at = GREATEST(asked_at, VALUES(asked_at)), held_with = VALUES(held_with)
      """)

  /// A longer revision is not stored, so the next request starts at the beginning.
  private static let revisionWidth = 1_024

  package static func note(
    _ histories: [StoredHistory], in scope: AppScope, at now: Timestamp, _ session: borrowing Session
  ) throws(DatabaseError) {
    let held = try HistoryGroup(histories, in: scope, session)
    let rows: [[SQLValue]] = histories.flatMap { history in
      let revision = history.revision.flatMap { $0.utf8.count <= revisionWidth ? $0 : nil }
      return history.originalTransactionIDs.map { id in
        scope.columns + [.text(id), revision.sqlValue, .integer(now.sinceEpoch), .text(held[id])]
      }
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 3))
    try held.rename(in: scope, session)
  }

  package static func stored(
    _ originals: Set<String>, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    var stored: Set<String> = []
    try session.read("original_transaction_id", of: .histories, originals, in: scope) { row throws(DatabaseError) in
      stored.insert(try row.text(0))
    }
    return stored
  }

  /// Returns the originalTransactionIds of accounts whose history was requested since `instant`.
  package static func asked(
    _ ids: [String], since instant: Timestamp, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    var asked: Set<String> = []
    // The IDs without their own request, by the name of their history.
    var others: [String: [String]] = [:]
    for row in try session.query(
      """
      SELECT original_transaction_id AS id, asked_at AS at, held_with AS name
      FROM \(Table.histories.each(ids, in: scope))
      """)
    {
      let id = try row.text("id")
      if try row.milliseconds("at") >= instant {
        asked.insert(id)
      } else {
        others[try row.text("name"), default: []].append(id)
      }
    }
    // Each history once, up to the first requested ID. Not EXISTS, which MariaDB converts to a join that reads every
    // history.
    for names in others.keys.sorted().parts() {
      for row in try session.query(
        """
        SELECT listed.wanted AS name FROM \(.listed(names)) WHERE (
          SELECT 1 FROM \(Table.histories.by("by_held_with")) WHERE \(in: scope) AND held_with = listed.wanted
          AND asked_at >= \(instant) LIMIT 1) = 1
        """)
      {
        asked.formUnion(others[try row.text("name")] ?? [])
      }
    }
    return asked
  }

  package static func revisions(
    of originals: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: String] {
    var revisions: [String: String] = [:]
    try session.read("original_transaction_id, revision", of: .histories, originals, in: scope) {
      row throws(DatabaseError) in
      revisions[try row.text("original_transaction_id")] = try row.optionalText("revision")
    }
    return revisions
  }
}
