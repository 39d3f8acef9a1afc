package import Database
import Purchases
import Time

/// `attributions`: the accounts of each originalTransactionId, with the period.
///
/// `user_ids`: its index by user ID. `claimed_attributions`: both, by only unsigned data.
package enum AccountAssociationTable {
  private static let upsert = BulkInsert(
    into: """
      INSERT INTO attributions (app, environment, original_transaction_id, kind, line, value, first_as_of, last_as_of,
        message) VALUES
      """, then: spanning, repeatsLast: true)

  private static let upsertClaimed = BulkInsert(
    into: """
      INSERT INTO claimed_attributions (app, environment, original_transaction_id, kind, line, value, first_as_of,
        last_as_of, message) VALUES
      """, then: spanning)

  private static let spanning: StaticString = """
    ON DUPLICATE KEY UPDATE
      message = IF(VALUES(last_as_of) > last_as_of OR VALUES(last_as_of) = last_as_of AND VALUES(message) > message,
        VALUES(message), message),
      first_as_of = LEAST(first_as_of, VALUES(first_as_of)), last_as_of = GREATEST(last_as_of, VALUES(last_as_of))
    """

  private static let insertUserID = BulkInsert(
    into: "INSERT INTO user_ids (app, environment, user_id, original_transaction_id) VALUES",
    then: "ON DUPLICATE KEY UPDATE user_id = VALUES(user_id)")

  static func note(_ findings: [(App.ID, Findings)], in session: borrowing Session) throws(DatabaseError) {
    try note(
      findings.flatMap { app, findings in
        let scope = AppScope(app: app, environment: findings.environment)
        return findings.attributions.map { (scope, $0) }
      }, in: session)
  }

  static func note(_ attributions: [(AppScope, AccountAssociation)], in session: borrowing Session)
    throws(DatabaseError)
  {
    var (proven, claimed): ([[SQLValue]], [[SQLValue]]) = ([], [])
    for (scope, attribution) in attributions {
      let row: [SQLValue] =
        scope.columns + [
          .text(attribution.originalTransactionID), .integer(Int64(attribution.kind.rawValue)),
          .text(attribution.line.text), .text(attribution.value), .integer(attribution.firstAsOf.sinceEpoch),
          .integer(attribution.lastAsOf.sinceEpoch), .bytes(attribution.message),
        ]
      if attribution.isClaimed { claimed.append(row) } else { proven.append(row) }
    }
    _ = try session.insert(upsert, rows: proven.inKeyOrder(columns: 6))
    if !claimed.isEmpty { _ = try session.insert(upsertClaimed, rows: claimed.inKeyOrder(columns: 6)) }
    let userIDs: [[SQLValue]] = attributions.filter { $0.1.kind == .userID && !$0.1.isClaimed }.map {
      scope, attribution in
      scope.columns + [.text(attribution.value), .text(attribution.originalTransactionID)]
    }
    _ = try session.insert(insertUserID, rows: userIDs.inKeyOrder(columns: 4))
  }

  /// Returns the number of user IDs of these originalTransactionIds, without claims by a shared secret only.
  ///
  /// - Parameter most: the maximum number of rows to count.
  package static func userIDCount(
    of ids: [String], in scope: AppScope, atMost most: Int, _ session: borrowing Session
  ) throws(DatabaseError) -> Int {
    guard !ids.isEmpty else { return 0 }
    return try session.query(
      """
      SELECT COUNT(DISTINCT value) AS users FROM (
        SELECT value FROM attributions
        WHERE \(in: scope) AND original_transaction_id IN (\(list: ids)) AND kind = \(AccountAssociation.Kind.userID.rawValue)
        LIMIT \(most)) a
      """
    ).first?.int("users") ?? 0
  }

  static func passedOn(
    from user: String, _ ids: [String], before time: Timestamp, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String] {
    var passed: [String] = []
    for ids in ids.parts() {
      for row in try session.query(
        """
        SELECT original_transaction_id AS id, MAX(IF(value = \(user), last_as_of, NULL)) AS own,
          MAX(IF(value = \(user), NULL, last_as_of)) AS other
        FROM \(Table.attributions.each(ids, in: scope)) AND kind = \(AccountAssociation.Kind.userID.rawValue)
        GROUP BY original_transaction_id
        """)
      {
        guard let own = try row.optionalInt64("own"), let other = try row.optionalInt64("other"), other > own,
          other < time.sinceEpoch
        else { continue }
        passed.append(try row.text("id"))
      }
    }
    return passed
  }

  /// Returns the attributions that `condition` selects: the proven ones, then the claims, each in key order.
  ///
  /// - Parameter limit: the maximum number of rows of each kind. `nil`: no limit.
  static func read(
    _ condition: SQL, atMost limit: Int? = nil, in session: borrowing Session
  ) throws(DatabaseError) -> [AccountAssociation] {
    try read("attributions", isClaimed: false, condition, atMost: limit, in: session)
      + read("claimed_attributions", isClaimed: true, condition, atMost: limit, in: session)
  }

  static func read(
    _ condition: SQL, within bound: inout ReadLimit, in session: borrowing Session
  ) throws(DatabaseError) -> [AccountAssociation] {
    let proven = try read("attributions", isClaimed: false, condition, atMost: bound.signed + 1, in: session)
    guard proven.count <= bound.signed else { throw ReadLimit.tooLarge(bound.signed) }
    return try proven
      + bound.claims { isBackward, limit throws(DatabaseError) in
        try read(
          "claimed_attributions", isClaimed: true, condition, atMost: limit, isBackward: isBackward, in: session)
      }
  }

  private static func read(
    _ table: String, isClaimed: Bool, _ condition: SQL, atMost limit: Int?, isBackward: Bool = false,
    in session: borrowing Session
  ) throws(DatabaseError) -> [AccountAssociation] {
    var attributions: [AccountAssociation] = []
    let order: SQL =
      isBackward
      ? "app DESC, environment DESC, original_transaction_id DESC, kind DESC, line DESC, value DESC"
      : "app, environment, original_transaction_id, kind, line, value"
    try session.query(
      """
      SELECT original_transaction_id, kind, line, value, first_as_of, last_as_of, message
      FROM \(identifier: table) \(condition)
      ORDER BY \(order) \(.limit(limit))
      """
    ) { row throws(DatabaseError) in
      guard let kind = AccountAssociation.Kind(rawValue: try row.int("kind")) else {
        throw DatabaseError(.column, "a kind of account this build does not know: \(try row.int("kind"))")
      }
      attributions.append(
        AccountAssociation(
          kind, try row.text("value"), of: try row.text("original_transaction_id"),
          line: Line(text: try row.text("line")), from: try row.milliseconds("first_as_of"),
          to: try row.milliseconds("last_as_of"), message: try row.bytes("message"), isClaimed: isClaimed))
    }
    return attributions
  }
}
