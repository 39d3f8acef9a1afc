package import Database
package import Purchases
package import Time

/// `waiting_user_ids`: user ids that arrived with an id alone, and are attributed when the purchase of that id is known.
///
/// Whichever is committed second attributes: the message that brings the user id looks for the purchase, and the message
/// that brings the purchase looks for user ids. Both look with shared locks after they have written, so that of two at
/// once one waits for the other. Rows are never taken away: the same messages make the same rows in whatever order.
enum PendingUserIDTable {
  private static let upsert = BulkInsert(
    into: """
      INSERT INTO waiting_user_ids (app, transaction_id, environment, user_id, first_as_of, last_as_of, message) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE
        message = IF(VALUES(last_as_of) > last_as_of OR VALUES(last_as_of) = last_as_of AND VALUES(message) > message,
          VALUES(message), message),
        first_as_of = LEAST(first_as_of, VALUES(first_as_of)), last_as_of = GREATEST(last_as_of, VALUES(last_as_of))
      """)

  private static let nobodySaid = 0
  /// The ids by which a bare id can name a purchase, beside its originalTransactionId.
  private static let kinds = [Alias.Kind.transactionID, .appTransactionID]

  /// Notes the user ids that wait, and attributes those whose purchase is known now; to be called once the purchases
  /// and aliases of the same messages are written.
  static func note(_ findings: [(App.ID, Findings)], in session: borrowing Session) throws(DatabaseError) {
    let waiting = findings.flatMap { app, findings in findings.waitingUserIDs.map { (app: app, user: $0) } }
    let rows: [[SQLValue]] = waiting.map { app, user in
      [
        .integer(Int64(app.number)), .text(user.transactionID),
        .integer(Int64(user.environment?.code ?? nobodySaid)), .text(user.userID),
        .integer(user.asOf.sinceEpoch), .integer(user.asOf.sinceEpoch), .bytes(user.message),
      ]
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 4))
    var named = names(in: findings)
    for (app, users) in Dictionary(grouping: waiting, by: \.app).sorted(by: { $0.key < $1.key }) {
      for (scope, names) in try known(Set(users.map(\.user.transactionID)), of: app, locked: true, in: session) {
        named[scope, default: [:]].merge(names) { $0.union($1) }
      }
    }
    var attributions: [(AppScope, AccountAssociation)] = []
    for (scope, names) in named.sorted(by: { $0.key < $1.key }) {
      attributions += try attributed(names, in: scope, session).map { (scope, $0) }
    }
    if !attributions.isEmpty { try AccountAssociationTable.note(attributions, in: session) }
  }

  /// The originalTransactionIds that an id names.
  typealias Names = [String: Set<String>]

  /// Of the purchases and renewals in the findings.
  private static func names(in findings: [(App.ID, Findings)]) -> [AppScope: Names] {
    var named: [AppScope: Names] = [:]
    for (app, findings) in findings {
      let scope = AppScope(app: app, environment: findings.environment)
      for original in findings.originalTransactionIDs {
        named[scope, default: [:]][original, default: []].insert(original)
      }
      // What an unsigned message calls somebody's purchase gives it to no account.
      for alias in findings.aliases where !alias.isClaimed && kinds.contains(alias.kind) {
        named[scope, default: [:]][alias.id, default: []].insert(alias.originalTransactionID)
      }
    }
    return named
  }

  /// What the ids name in every environment of the app.
  ///
  /// - Parameter locked: whether to wait for others that are writing such a purchase now.
  static func known(
    _ ids: Set<String>, of app: App.ID, locked: Bool, in session: borrowing Session
  ) throws(DatabaseError) -> [AppScope: Names] {
    var known: [AppScope: Names] = [:]
    let lock: SQL = locked ? "LOCK IN SHARE MODE" : ""
    for ids in ids.sorted().parts() {
      let aliases = Table.aliases.everywhere(ids, of: app) + " WHERE kind IN (\(list: kinds.map(\.rawValue)))"
      for (id, rows): (SQL, SQL) in [
        ("alias", aliases), ("original_transaction_id", Table.purchases.everywhere(ids, of: app)),
        ("original_transaction_id", Table.renewals.everywhere(ids, of: app)),
      ] {
        for row in try session.query("SELECT environment, \(id) AS id, original_transaction_id FROM \(rows) \(lock)") {
          let scope = AppScope(app: app, environment: try Environment(code: row.int("environment")))
          let (id, original) = (try row.text("id"), try row.text("original_transaction_id"))
          known[scope, default: [:]][id, default: []].insert(original)
        }
      }
    }
    return known
  }

  /// The user ids that wait for what these ids name.
  private static func attributed(
    _ names: Names, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [AccountAssociation] {
    var attributions: [AccountAssociation] = []
    for ids in names.keys.sorted().parts() {
      for row in try session.query(waiting(ids, in: scope)) {
        let userID = try row.text("user_id")
        let (first, last) = (try row.milliseconds("first_as_of"), try row.milliseconds("last_as_of"))
        let message = try row.bytes("message")
        attributions += (names[try row.text("transaction_id")] ?? []).map { original in
          AccountAssociation(.userID, userID, of: original, from: first, to: last, message: message)
        }
      }
    }
    return AccountAssociation.merged(attributions)
  }

  // Every commit asks this: the key is forced so that a small table is not scanned, which would wait for rows that
  // others are writing.
  static func waiting(_ ids: [String], in scope: AppScope) -> SQL {
    """
    SELECT transaction_id, user_id, first_as_of, last_as_of, message FROM waiting_user_ids FORCE INDEX (PRIMARY)
    WHERE app = \(scope.app.number) AND transaction_id IN (\(list: ids))
    AND environment IN (\(nobodySaid), \(scope.environment.code)) LOCK IN SHARE MODE
    """
  }

  /// Every row of the app, in key order.
  static func read(of app: App.ID, in session: borrowing Session) throws(DatabaseError) -> [Row] {
    var found: [Row] = []
    for row in try session.query(
      """
      SELECT transaction_id, environment, user_id, first_as_of, last_as_of, message FROM waiting_user_ids
      WHERE app = \(app.number) ORDER BY transaction_id, environment, user_id
      """)
    {
      let environment = try row.int("environment")
      found.append(
        Row(
          transactionID: try row.text("transaction_id"),
          environment: environment == nobodySaid ? nil : try Environment(code: environment),
          userID: try row.text("user_id"), firstAsOf: try row.milliseconds("first_as_of"),
          lastAsOf: try row.milliseconds("last_as_of"), message: try row.bytes("message")))
    }
    return found
  }

  /// A user id that arrived with an id alone, over all the time in which it was said.
  struct Row {
    let transactionID: String
    let environment: Environment?
    let userID: String
    let firstAsOf: Timestamp
    let lastAsOf: Timestamp
    let message: [UInt8]
  }
}

extension LedgerStore {
  /// The environments of Apple's in which a purchase is known under each id, as a transaction id, an originalTransactionId
  /// or an app transaction's id.
  package static func environments(
    of ids: Set<String>, app: App.ID, in session: borrowing Session
  ) throws(DatabaseError) -> [String: Set<Environment>] {
    var environments: [String: Set<Environment>] = [:]
    for (scope, names) in try PendingUserIDTable.known(ids, of: app, locked: false, in: session) {
      // Apple knows nothing of purchases that were made in Xcode.
      guard scope.environment == .production || scope.environment == .sandbox else { continue }
      for id in names.keys { environments[id, default: []].insert(scope.environment) }
    }
    return environments
  }

  /// The same over a connection of the ledger's.
  package func environments(
    of ids: Set<String>, app: App.ID
  ) async throws(DatabaseError) -> [String: Set<Environment>] {
    try await pool.read { session throws(DatabaseError) in
      try Self.environments(of: ids, app: app, in: session)
    }
  }

  /// What these ids name that another user was said to have after `user`, by environment.
  package func passedOn(
    from user: String, _ ids: Set<String>, of app: App.ID, before time: Timestamp
  ) async throws(DatabaseError) -> [Environment: [String]] {
    try await pool.read { session throws(DatabaseError) in
      var passed: [Environment: [String]] = [:]
      for (scope, names) in try PendingUserIDTable.known(ids, of: app, locked: false, in: session) {
        let originals = Set(names.values.joined()).sorted()
        let found = try AccountAssociationTable.passedOn(from: user, originals, before: time, in: scope, session)
        if !found.isEmpty { passed[scope.environment] = found }
      }
      return passed
    }
  }
}
