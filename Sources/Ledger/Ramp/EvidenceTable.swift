package import Database
package import Time

/// `rollout_evidence`: when something was shown, or voided, that a later stage depends on.
package enum EvidenceTable {
  package enum Kind: String, Sendable, CaseIterable {
    /// A rollback was rehearsed.
    case drill
    /// What was gathered before counts no longer.
    case voided
    /// Ids that Apple's API does not know were accepted as they are.
    case unknown
    /// Ids of cancelled bulk migrations were accepted without a history.
    case cancelled
  }

  package struct Record: Hashable, Sendable {
    package let at: Milliseconds
    package let detail: String
  }

  package static func add(
    _ kind: Kind, of scope: Scope, at now: Milliseconds, _ detail: String, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO rollout_evidence (app, environment, kind, at, detail)
      VALUES (\(scope.app.number), \(scope.environment.code), \(kind.rawValue), \(now), \(String(detail.prefix(200))))
      ON DUPLICATE KEY UPDATE detail = VALUES(detail)
      """)
  }

  package static func last(
    _ kind: Kind, of scope: Scope, in session: borrowing Session
  ) throws(DatabaseError) -> Record? {
    guard
      let row = try session.query(
        """
        SELECT at, detail FROM rollout_evidence WHERE app = \(scope.app.number)
        AND environment = \(scope.environment.code) AND kind = \(kind.rawValue) ORDER BY at DESC LIMIT 1
        """
      ).first
    else { return nil }
    return Record(at: try row.milliseconds("at"), detail: try row.text("detail"))
  }
}
