package import Database
package import Purchases
package import Time

/// `waiting_user_ids`: user IDs that arrived with only a transaction's ID, and are attributed once its purchase is
/// known.
///
/// The later commit attributes. Both messages read with shared locks after their writes, so that one of two concurrent
/// commits waits. Rows are never deleted, so that order does not matter.
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
  /// The kinds of IDs that can name a purchase, in addition to its originalTransactionId.
  private static let kinds = [Alias.Kind.transactionID, .appTransactionID]

  /// Stores the waiting user IDs, and attributes those whose purchase is known.
  ///
  /// Call it after purchases and aliases are written.
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

  typealias Names = [String: Set<String>]

  private static func names(in findings: [(App.ID, Findings)]) -> [AppScope: Names] {
    var named: [AppScope: Names] = [:]
    for (app, findings) in findings {
      let scope = AppScope(app: app, environment: findings.environment)
      for original in findings.originalTransactionIDs {
        named[scope, default: [:]][original, default: []].insert(original)
      }
      // An alias from an unsigned message does not attribute a purchase to an account.
      for alias in findings.aliases where !alias.isClaimed && kinds.contains(alias.kind) {
        named[scope, default: [:]][alias.id, default: []].insert(alias.originalTransactionID)
      }
    }
    return named
  }

  /// Returns the names of the IDs in every environment of the app.
  ///
  /// - Parameter locked: whether to wait for concurrent writers of such a purchase.
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

  // Every commit runs this query. The forced key prevents a scan of a small table, which would wait for locked rows.
  static func waiting(_ ids: [String], in scope: AppScope) -> SQL {
    """
    SELECT transaction_id, user_id, first_as_of, last_as_of, message FROM waiting_user_ids FORCE INDEX (PRIMARY)
    WHERE app = \(scope.app.number) AND transaction_id IN (\(list: ids))
    AND environment IN (\(nobodySaid), \(scope.environment.code)) LOCK IN SHARE MODE
    """
  }

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

  /// A user ID that arrived with only a transaction's ID, over the period of all statements.
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
  /// Returns the environments with a purchase under each ID: a transaction ID, an originalTransactionId or an app
  /// transaction's ID.
  package static func environments(
    of ids: Set<String>, app: App.ID, in session: borrowing Session
  ) throws(DatabaseError) -> [String: Set<Environment>] {
    var environments: [String: Set<Environment>] = [:]
    for (scope, names) in try PendingUserIDTable.known(ids, of: app, locked: false, in: session) {
      // Apple does not know purchases made in Xcode.
      guard scope.environment == .production || scope.environment == .sandbox else { continue }
      for id in names.keys { environments[id, default: []].insert(scope.environment) }
    }
    return environments
  }

  package func environments(
    of ids: Set<String>, app: App.ID
  ) async throws(DatabaseError) -> [String: Set<Environment>] {
    try await pool.read { session throws(DatabaseError) in
      try Self.environments(of: ids, app: app, in: session)
    }
  }

  /// Returns, by environment, the purchases of these IDs that were attributed to another user after `user`.
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
