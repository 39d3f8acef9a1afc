package import Database
import Purchases
package import Time

/// `work`: the IDs to look up at Apple, and the outcomes of earlier lookups.
///
/// Each new ID has a row. A lease covers a customer, with all its waiting rows.
package enum HistoryJobTable {
  /// The reason for the history request, with its number in the table.
  ///
  /// Each kind is a separate queue.
  package enum Kind: Int, Hashable, Sendable, CaseIterable {
    /// The ID is new, or a caller needs current data.
    case history = 1
    /// An unsigned message reports a change of a customer with a stored history, or came from Apple.
    case claimedChange = 2
    /// Only an unsigned message from outside Apple's networks names the ID.
    case claimedID = 3
    /// A back end submitted the ID without signed data: without other data, in an unproven receipt, or in an unsigned
    /// response.
    case unverifiedID = 4

    /// Every holder of the shared secret can create work of these kinds.
    static let claimed: [Self] = [.claimedChange, .claimedID]
    package var isClaimed: Bool { Self.claimed.contains(self) }

    package var name: String {
      switch self {
      case .history: "seed"
      case .claimedChange: "claimed change"
      case .claimedID: "claimed id"
      case .unverifiedID: "unverified id"
      }
    }
  }

  /// The state of a row, with its number in the table.
  package enum State: Int, Hashable, Sendable, CaseIterable {
    case waiting = 0
    /// The history was stored, or another ID's history held it.
    case done = 1
    /// Apple does not know the ID for this app, in either environment.
    case unknown = 2
    /// The lookup failed for the reason in the row.
    case failed = 3

    package var name: String { "\(self)" }
  }

  /// Returns the rows of these IDs, with one index lookup for each ID and kind.
  static func listed(_ ids: [String], of kinds: [Kind] = Kind.allCases, in scope: AppScope) -> SQL {
    Table.work.each(ids, kinds: kinds.map(\.rawValue), in: scope)
  }

  static func update(
    _ rows: [Int64], _ changes: SQL, where condition: SQL = "state = 0", in session: borrowing Session
  ) throws(DatabaseError) {
    for rows in rows.sorted().parts() {
      _ = try session.execute(
        "UPDATE \(Table.work.by("PRIMARY")) SET \(changes) WHERE id IN (\(list: rows)) AND \(condition)")
    }
  }

  private static let insert = BulkInsert(
    into: "INSERT INTO work (app, environment, kind, subject, created_at, due_at) VALUES",
    then: "ON DUPLICATE KEY UPDATE subject = VALUES(subject)")

  /// Queues the IDs.
  ///
  /// Existing rows are unchanged.
  static func enqueue(
    _ seeds: [(app: App.ID, seed: TransactionReference, arrivedAt: Timestamp)], as kind: Kind = .history,
    in session: borrowing Session
  ) throws(DatabaseError) {
    var arrivals: [Subject: Timestamp] = [:]
    for (app, seed, arrivedAt) in seeds {
      switch seed.environment ?? .production {
      case .production, .sandbox: break
      // Apple does not know purchases made in Xcode.
      case .xcode, .localTesting: continue
      }
      let subject = Subject(app: app, environment: seed.environment ?? .production, id: seed.transactionID)
      arrivals[subject] = min(arrivals[subject] ?? arrivedAt, arrivedAt)
    }
    let rows: [[SQLValue]] = arrivals.map { subject, arrivedAt in
      [
        .integer(Int64(subject.app.number)), .integer(Int64(subject.environment.code)),
        .integer(Int64(kind.rawValue)), .text(subject.id), .integer(arrivedAt.sinceEpoch),
        .integer(arrivedAt.sinceEpoch),
      ]
    }
    _ = try session.insert(insert, rows: rows.inKeyOrder(columns: 4))
  }

  /// Queues the IDs even after an earlier lookup: settled ones wait again, and waiting ones are looked up even if a
  /// stored history holds them.
  ///
  /// - Parameters:
  ///   - kind: `claimedID` or `unverifiedID` for IDs without signed data.
  ///   - recent: lookups since then suffice.
  ///   - isPatient: whether IDs that failed or were unknown since then are skipped too.
  package static func askAgain(
    _ ids: [String], as kind: Kind = .history, in scope: AppScope, unlessDoneSince recent: Timestamp,
    isPatient: Bool = false,
    at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    let patience = isPatient ? 1 : 0
    for id in Set(ids).sorted() {
      _ = try session.execute(
        """
        INSERT INTO work (app, environment, kind, subject, is_again, created_at, due_at)
        VALUES (\(scope.app.number), \(scope.environment.code), \(kind.rawValue), \(id), 1, \(now), \(now))
        ON DUPLICATE KEY UPDATE
          settled_at = IF((state = \(State.done.rawValue) OR \(patience) = 1) AND settled_at > \(recent), settled_at, NULL),
          is_again = IF(settled_at IS NOT NULL, is_again, 1),
          attempts = IF(state = 0 OR settled_at IS NOT NULL, attempts, 0),
          due_at = IF(state = 0 OR settled_at IS NOT NULL, due_at, VALUES(due_at)),
          reason = IF(state = 0 OR settled_at IS NOT NULL, reason, NULL),
          unknown_in = IF(state = 0 OR settled_at IS NOT NULL, unknown_in, NULL),
          state = IF(settled_at IS NULL, 0, state)
        """)
    }
  }

  struct ClaimedRow {
    let scope: AppScope
    let kind: Kind
    let subject: String
    let dueAt: Timestamp
    let createdAt: Timestamp
  }

  // Each assignment compares `state`, and the one of `due_at` compares `settled_at`: both are assigned after it.
  private static let reopen = BulkInsert(
    into: "INSERT INTO work (app, environment, kind, subject, is_again, created_at, due_at) VALUES",
    then: """
      ON DUPLICATE KEY UPDATE
        due_at = IF(state = 0, due_at, GREATEST(VALUES(due_at), COALESCE(settled_at, 0) + 60000)),
        created_at = IF(state = 0, created_at, VALUES(created_at)), attempts = IF(state = 0, attempts, 0),
        reason = IF(state = 0, reason, NULL), settled_at = NULL, begun = IF(state = 0, begun, 0), is_again = 1, state = 0
      """)

  /// Queues claimed lookups.
  ///
  /// Waiting rows are unchanged. Settled ones wait again, at least for `UnconfirmedChangeTable.shortestInterval`.
  static func queue(_ rows: [ClaimedRow], in session: borrowing Session) throws(DatabaseError) {
    let values: [[SQLValue]] = rows.map { row in
      row.scope.columns + [
        .integer(Int64(row.kind.rawValue)), .text(row.subject), .integer(1), .integer(row.createdAt.sinceEpoch),
        .integer(row.dueAt.sinceEpoch),
      ]
    }
    _ = try session.insert(reopen, rows: values.inKeyOrder(columns: 4))
  }

  /// Deletes up to `limit` unproven lookups that were settled and due before `date`, and returns their number.
  ///
  /// They need no record: a repeated claim is compared with the ledger's data.
  package static func purgeUnproven(
    in scope: AppScope, dueBefore date: Timestamp, limit: Int, _ session: borrowing Session
  ) throws(DatabaseError) -> Int {
    let deleted = try session.execute(
      """
      DELETE FROM work WHERE \(in: scope) AND kind IN (\(list: (Kind.claimed + [.unverifiedID]).map(\.rawValue)))
      AND state IN (\(State.done.rawValue), \(State.unknown.rawValue), \(State.failed.rawValue)) AND due_at < \(date) LIMIT \(limit)
      """)
    return Int(deleted.affectedRows)
  }

  private struct Subject: Hashable {
    let app: App.ID, environment: Environment, id: String
  }
}
