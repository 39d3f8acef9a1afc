package import Database
import Purchases
package import Time

/// `work`: which ids Apple is still to be asked about, and what became of the others.
///
/// A row for each id that arrived; what is leased and asked about is a customer, with all rows of theirs that wait.
package enum WorkTable {
  /// What is to be done for a row; its number in the table.
  enum Kind: Int {
    /// The history of the customer to whom the id belongs.
    case history = 1
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

  private static let insert = RowsInsert(
    into: "INSERT INTO work (app, environment, kind, subject, created_at, due_at) VALUES",
    then: "ON DUPLICATE KEY UPDATE subject = VALUES(subject)")

  /// Makes work of the ids by which Apple can be asked; what is there already stays as it is.
  static func enqueue(
    _ seeds: [(app: App.ID, seed: Seed, arrivedAt: Milliseconds)], in session: borrowing Session
  ) throws(DatabaseError) {
    var arrivals: [Subject: Milliseconds] = [:]
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
        .integer(Int64(Kind.history.rawValue)), .text(subject.id), .integer(arrivedAt.sinceEpoch),
        .integer(arrivedAt.sinceEpoch),
      ]
    }
    _ = try session.insert(insert, rows: rows.inKeyOrder(columns: 4))
  }

  /// Has the ids asked about although they may have been: what is settled waits again, what waits goes on waiting, and
  /// is asked about although a history that is stored may hold it.
  ///
  /// - Parameters:
  ///   - recent: what was done since then is news enough.
  ///   - isPatient: what was given up or unknown since then is not asked about either.
  package static func askAgain(
    _ ids: [String], in scope: Ledger.Scope, unlessDoneSince recent: Milliseconds, isPatient: Bool = false,
    at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    let patience = isPatient ? 1 : 0
    for id in Set(ids).sorted() {
      _ = try session.execute(
        """
        INSERT INTO work (app, environment, kind, subject, is_again, created_at, due_at)
        VALUES (\(scope.app.number), \(scope.environment.code), \(Kind.history.rawValue), \(id), 1, \(now), \(now))
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

  private struct Subject: Hashable {
    let app: App.ID, environment: Environment, id: String
  }
}
