package import Database
package import Purchases
import Time

/// `aliases` and `claimed_aliases`: every ID of a purchase, with its period.
///
/// An ID from only unsigned messages is a claim. Otherwise a holder of an old app copy could add an ID to another
/// customer's purchase, and read it.
enum AliasTable {
  private static let upsert = BulkInsert(
    into: """
      INSERT INTO aliases (app, environment, alias, kind, original_transaction_id, line, first_as_of, last_as_of) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE
        first_as_of = LEAST(first_as_of, VALUES(first_as_of)), last_as_of = GREATEST(last_as_of, VALUES(last_as_of))
      """, repeatsLast: true)

  private static let upsertClaimed = BulkInsert(
    into: """
      INSERT INTO claimed_aliases
        (app, environment, alias, kind, original_transaction_id, line, first_as_of, last_as_of) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE
        first_as_of = LEAST(first_as_of, VALUES(first_as_of)), last_as_of = GREATEST(last_as_of, VALUES(last_as_of))
      """)

  static func note(_ findings: [(App.ID, Findings)], in session: borrowing Session) throws(DatabaseError) {
    var (proven, claimed): ([[SQLValue]], [[SQLValue]]) = ([], [])
    for (app, findings) in findings {
      let scope = AppScope(app: app, environment: findings.environment).columns
      for alias in findings.aliases {
        let asOf = SQLValue.integer(alias.asOf.sinceEpoch)
        let row: [SQLValue] =
          scope + [
            .text(alias.id), .integer(Int64(alias.kind.rawValue)), .text(alias.originalTransactionID),
            .text(alias.line.text), asOf, asOf,
          ]
        if alias.isClaimed { claimed.append(row) } else { proven.append(row) }
      }
    }
    _ = try session.insert(upsert, rows: merged(proven.inKeyOrder(columns: 7)))
    if !claimed.isEmpty { _ = try session.insert(upsertClaimed, rows: merged(claimed.inKeyOrder(columns: 7))) }
  }

  /// Merges rows with one key: a transaction and its renewal contain the same IDs.
  ///
  /// The earliest row of a key comes first.
  private static func merged(_ rows: [[SQLValue]]) -> [[SQLValue]] {
    var merged: [[SQLValue]] = []
    merged.reserveCapacity(rows.count)
    for row in rows {
      if let last = merged.indices.last, merged[last].hasKey(of: row, columns: 6) {
        merged[last][7] = row[7]
      } else {
        merged.append(row)
      }
    }
    return merged
  }

  /// Passes the nodes that `id` leads to, ordered within each environment.
  ///
  /// Throws `tooLarge` above `limit` nodes.
  static func resolve(
    _ id: String, app: App, atMost limit: Int, in session: borrowing Session,
    each: (Environment, CustomerNode) throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    let token = Alias.normalized(accountToken: id)
    let download = CustomerNode.appTransactionID(id).text
    let app = app.id
    var count = 0
    try session.query(
      """
      SELECT environment, CONCAT('o', original_transaction_id) AS node FROM \(Table.aliases.everywhere(id, of: app))
        WHERE kind <> \(Alias.Kind.appAccountToken.rawValue)
      UNION SELECT environment, CONCAT('o', original_transaction_id) FROM \(Table.aliases.everywhere(token, of: app))
        AND kind = \(Alias.Kind.appAccountToken.rawValue)
      UNION SELECT environment, CONCAT('o', original_transaction_id) FROM \(Table.purchases.everywhere(id, of: app))
      UNION SELECT environment, CONCAT('o', original_transaction_id) FROM \(Table.renewals.everywhere(id, of: app))
      UNION SELECT environment, CONCAT('o', original_transaction_id) FROM \(Table.userIDs.everywhere(id, of: app))
      UNION SELECT environment, node FROM \(Table.customers.everywhere(download, of: app))
      UNION SELECT environment, CONCAT('t', app_transaction_id) FROM \(Table.appTransactions.everywhere(id, of: app))
      ORDER BY environment, node LIMIT \(limit + 1)
      """
    ) { row throws(DatabaseError) in
      count += 1
      guard count <= limit else { throw ReadLimit.tooLarge(limit) }
      if let node = CustomerNode(text: try row.text("node")) {
        try each(try Environment(code: row.int("environment")), node)
      }
    }
  }
}

extension AliasTable {
  /// Passes the originalTransactionIds to which only unsigned messages assign `id`, ordered within each environment.
  ///
  /// Returns whether more than `limit` were omitted, since strangers can create any number of them.
  static func resolveClaimed(
    _ id: String, app: App, atMost limit: Int, in session: borrowing Session,
    each: (Environment, String) throws(DatabaseError) -> Void
  ) throws(DatabaseError) -> Bool {
    let token = Alias.normalized(accountToken: id)
    // `kind <> …` would also read the tokens, which strangers can create and the next query reads anyway.
    let others = Alias.Kind.allCases.filter { $0 != .appAccountToken }.map(\.rawValue)
    let app = app.id
    var count = 0
    try session.query(
      """
      SELECT environment, original_transaction_id FROM \(Table.claimedAliases.everywhere(id, kinds: others, of: app))
      UNION SELECT environment, original_transaction_id FROM \(Table.claimedAliases.everywhere(token, of: app))
        AND kind = \(Alias.Kind.appAccountToken.rawValue)
      UNION SELECT environment, original_transaction_id FROM \(Table.claimedValues.everywhere(id, of: app))
        AND kind = \(AccountAssociation.Kind.userID.rawValue)
      ORDER BY environment, original_transaction_id LIMIT \(limit + 1)
      """
    ) { row throws(DatabaseError) in
      count += 1
      guard count <= limit else { return }
      try each(try Environment(code: row.int("environment")), try row.text("original_transaction_id"))
    }
    return count > limit
  }

  static func signed(
    _ originals: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    let sources = Source.allCases.filter(\.isSigned).map(\.rawValue)
    var signed: Set<String> = []
    for originals in originals.parts() {
      let signedIn: SQL = "WHERE source IN (\(list: sources))"
      try session.query(
        """
        SELECT original_transaction_id FROM \(Table.purchases.each(originals, in: scope)) \(signedIn)
        UNION SELECT original_transaction_id FROM \(Table.renewals.each(originals, in: scope)) \(signedIn)
        """
      ) { row throws(DatabaseError) in signed.insert(try row.text("original_transaction_id")) }
    }
    return signed
  }
}

extension LedgerStore {
  /// Whether a purchase is known under `id`, as one of these kinds or as its originalTransactionId.
  package static func knows(
    _ id: String, as kinds: [Alias.Kind], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    try session.query(
      """
      (SELECT 1 AS hit FROM aliases WHERE \(in: scope) AND alias = \(id) AND kind IN (\(list: kinds.map(\.rawValue))) LIMIT 1)
      UNION ALL (SELECT 1 FROM purchases WHERE \(in: scope) AND original_transaction_id = \(id) LIMIT 1) LIMIT 1
      """
    ).first != nil
  }
}
