package import Database
import Purchases
package import Time

/// The cohort of an app: customers that an operator put into bucket 0, which every share above 0% includes.
extension BucketTable {
  package static func ids(
    of member: CohortMember, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String] {
    let known: SQL =
      switch member.kind {
      case .customer: "SELECT \(member.name) AS id"
      case .user:
        """
        SELECT original_transaction_id AS id FROM \(Table.userIDs.range(member.name, in: scope)) LIMIT \(mostMembers)
        """
      case .token:
        """
        SELECT original_transaction_id AS id
        FROM \(Table.aliases.range(Alias.normalized(accountToken: member.name), in: scope))
          AND kind = \(Alias.Kind.appAccountToken.rawValue) LIMIT \(mostMembers)
        """
      }
    var ids: [String] = []
    try session.query(known) { row throws(DatabaseError) in ids.append(try row.text("id")) }
    return ids.isEmpty ? [] : try members(of: ids, in: scope, session)
  }

  private static let choice = BulkInsert(
    into: "INSERT INTO buckets (app, environment, original_transaction_id, bucket, is_chosen, decided_at) VALUES",
    then: "ON DUPLICATE KEY UPDATE bucket = 0, is_chosen = 1")

  package static func choose(
    _ ids: [String], in scope: AppScope, at now: Timestamp, _ session: borrowing Session
  ) throws(DatabaseError) {
    for ids in ids.parts() {
      _ = try session.insert(
        choice,
        rows: ids.map { id -> [SQLValue] in
          scope.columns + [.text(id), .integer(0), .integer(1), .integer(now.sinceEpoch)]
        })
    }
  }

  /// Removes customers from the cohort.
  ///
  /// The next decision gives them the bucket of their hash.
  package static func release(
    _ ids: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) {
    for ids in ids.parts() {
      _ = try session.execute(
        "DELETE FROM buckets WHERE \(in: scope) AND original_transaction_id IN (\(list: ids)) AND is_chosen = 1")
    }
  }

  package static func cohort(of scope: AppScope, in session: borrowing Session) throws(DatabaseError) -> [String] {
    var ids: [String] = []
    try session.query(
      """
      SELECT original_transaction_id AS id FROM \(Table.buckets.by("PRIMARY")) WHERE \(in: scope) AND is_chosen = 1
      ORDER BY original_transaction_id
      """
    ) { row throws(DatabaseError) in ids.append(try row.text("id")) }
    return ids
  }
}
