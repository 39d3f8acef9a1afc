package import Database
import Purchases
package import Time

/// `work`: which ids Apple was not asked yet about, and what became of the others.
///
/// A row for each id that arrived; what is leased and asked about is a customer, with all rows of theirs that wait.
package enum HistoryJobTable {
  /// Why the history of the customer to whom the id belongs is asked for; its number in the table.
  ///
  /// Each kind is a queue of its own.
  package enum Kind: Int, Hashable, Sendable, CaseIterable {
    /// The id arrived, or somebody wants news of it.
    case history = 1
    /// An unsigned message reports a change of a customer whose history is stored, or Apple sent it.
    case claimedChange = 2
    /// Only an unsigned message that did not come from Apple's networks names the id.
    case claimedID = 3
    /// A back end handed in the id, and nothing that Apple signed names it: it came alone, in a receipt that is not
    /// proven, or in an unsigned answer.
    case unverifiedID = 4

    /// Anybody who has the shared secret can make work of these kinds.
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

  /// How a row stands; its number in the table.
  package enum State: Int, Hashable, Sendable, CaseIterable {
    case waiting = 0
    /// The history was stored, or another id's history held it.
    case done = 1
    /// Apple knows no such id of this app, in either environment.
    case unknown = 2
    /// Given up, for the reason that stands beside it.
    case failed = 3

    package var name: String { "\(self)" }
  }

  /// The rows of these ids: one look-up for each id and kind.
  static func listed(_ ids: [String], of kinds: [Kind] = Kind.allCases, in scope: AppScope) -> SQL {
    Table.work.each(ids, kinds: kinds.map(\.rawValue), in: scope)
  }

  /// Changes those of these rows that `condition` selects.
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

  /// Makes work of the ids by which Apple can be asked; what is there already stays as it is.
  static func enqueue(
    _ seeds: [(app: App.ID, seed: TransactionReference, arrivedAt: Timestamp)], as kind: Kind = .history,
    in session: borrowing Session
  ) throws(DatabaseError) {
    var arrivals: [Subject: Timestamp] = [:]
    for (app, seed, arrivedAt) in seeds {
      switch seed.environment ?? .production {
      case .production, .sandbox: break
      // Apple knows nothing of purchases that were made in Xcode.
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

  /// Has the ids asked about although they may have been: what is settled waits again, what waits goes on waiting, and
  /// is asked about although a history that is stored may hold it.
  ///
  /// - Parameters:
  ///   - kind: `claimedID` or `unverifiedID` for ids that nothing signed names.
  ///   - recent: what was done since then is news enough.
  ///   - isPatient: what was given up or unknown since then is not asked about either.
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

  /// A look-up because of something that was only claimed.
  struct ClaimedRow {
    let scope: AppScope
    let kind: Kind
    let subject: String
    let dueAt: Timestamp
    let createdAt: Timestamp
  }

  // `state` is compared in each assignment, and `settled_at` in the one of `due_at`: both are assigned after it.
  private static let reopen = BulkInsert(
    into: "INSERT INTO work (app, environment, kind, subject, is_again, created_at, due_at) VALUES",
    then: """
      ON DUPLICATE KEY UPDATE
        due_at = IF(state = 0, due_at, GREATEST(VALUES(due_at), COALESCE(settled_at, 0) + 60000)),
        created_at = IF(state = 0, created_at, VALUES(created_at)), attempts = IF(state = 0, attempts, 0),
        reason = IF(state = 0, reason, NULL), settled_at = NULL, begun = IF(state = 0, begun, 0), is_again = 1, state = 0
      """)

  /// Makes work of what was claimed; what waits already stays as it is, and what was settled waits again, a minute after
  /// that at the earliest (`UnconfirmedChangeTable.shortestInterval`).
  static func queue(_ rows: [ClaimedRow], in session: borrowing Session) throws(DatabaseError) {
    let values: [[SQLValue]] = rows.map { row in
      row.scope.columns + [
        .integer(Int64(row.kind.rawValue)), .text(row.subject), .integer(1), .integer(row.createdAt.sinceEpoch),
        .integer(row.dueAt.sinceEpoch),
      ]
    }
    _ = try session.insert(reopen, rows: values.inKeyOrder(columns: 4))
  }

  /// Forgets up to `limit` look-ups because of what nothing proves that were settled and due before `date`; how many.
  ///
  /// Unlike others they need not be remembered: what comes again is compared with what is known then.
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
