package import Database
import Purchases
import Time

/// `histories`: which originalTransactionIds Apple's histories held, and where each ended.
package enum HistoryTable {
  private static let upsert = RowsInsert(
    into: "INSERT INTO histories (app, environment, original_transaction_id, revision, asked_at) VALUES",
    then: """
      ON DUPLICATE KEY UPDATE
        revision = IF(VALUES(asked_at) >= asked_at, VALUES(revision), revision),
        asked_at = GREATEST(asked_at, VALUES(asked_at))
      """)

  /// A longer one is not kept: the next walk begins at the beginning.
  private static let revisionWidth = 1_024

  static func note(
    _ histories: [StoredHistory], in scope: Ledger.Scope, at now: Milliseconds, _ session: borrowing Session
  ) throws(DatabaseError) {
    let rows: [[SQLValue]] = histories.flatMap { history in
      let revision = history.revision.flatMap { $0.utf8.count <= revisionWidth ? $0 : nil }
      return history.originalTransactionIDs.map { id in
        scope.columns + [.text(id), revision.sqlValue, .integer(now.sinceEpoch)]
      }
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 3))
  }

  /// Which of these originalTransactionIds were in a history.
  package static func stored(
    _ originals: Set<String>, in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    var stored: Set<String> = []
    for originals in originals.sorted().parts() {
      for row in try session.query(
        """
        SELECT original_transaction_id FROM histories WHERE app = \(scope.app.number)
        AND environment = \(scope.environment.code) AND original_transaction_id IN (\(list: originals))
        """)
      {
        stored.insert(try row.text(0))
      }
    }
    return stored
  }

  /// Where the last history that held each of the ids ended.
  package static func revisions(
    of originals: [String], in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: String] {
    var revisions: [String: String] = [:]
    for originals in originals.sorted().parts() {
      for row in try session.query(
        """
        SELECT original_transaction_id, revision FROM histories WHERE app = \(scope.app.number)
        AND environment = \(scope.environment.code) AND original_transaction_id IN (\(list: originals))
        """)
      {
        revisions[try row.text("original_transaction_id")] = try row.optionalText("revision")
      }
    }
    return revisions
  }

  /// The originalTransactionIds that V1 bodies name, of which signed data is stored but no history, and of which the bodies
  /// report nothing new: no claim asks Apple about them, so that they are seeds.
  ///
  /// An id that nothing signed names is none of them, however often it is claimed. To be called before the messages are
  /// written.
  static func unaskedOriginals(
    in messages: [(message: InboxMessage, app: App.ID, findings: Findings)], _ reports: [ClaimedReport],
    _ session: borrowing Session
  ) throws(DatabaseError) -> [Ledger.Scope: Set<String>] {
    var unasked: [Ledger.Scope: Set<String>] = [:]
    for (_, app, findings) in messages {
      unasked[Ledger.Scope(app: app, environment: findings.environment), default: []]
        .formUnion(findings.claimedOriginals)
    }
    for report in reports { unasked[report.scope]?.remove(report.originalTransactionID) }
    for (scope, originals) in unasked where !originals.isEmpty {
      var signed: Set<String> = []
      for ids in originals.sorted().parts() {
        let missing = Set(ids).subtracting(try stored(Set(ids), in: scope, session))
        for row in try session.query(
          """
          SELECT original_transaction_id FROM renewals WHERE app = \(scope.app.number)
          AND environment = \(scope.environment.code) AND original_transaction_id IN (\(list: missing.sorted()))
          AND source = \(Source.signedV2.rawValue)
          """)
        {
          signed.insert(try row.text(0))
        }
      }
      unasked[scope] = signed
    }
    return unasked
  }
}
