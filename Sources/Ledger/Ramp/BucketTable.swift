package import Database
import Purchases
package import Rollout
import Signing
package import Time

extension Bucket {
  package init(salt: String, app: String, customer: String) {
    self.init(digest: Digest.sha256(Self.message(salt: salt, app: app, customer: customer)).bytes)
  }
}

/// `buckets`: the customers' buckets in a ramp, stored from their first decision on.
package enum BucketTable {
  /// The maximum number of members to read.
  ///
  /// A larger customer is identified by the IDs in the receipt.
  static let mostMembers = 1_000

  /// Returns the customer's bucket: the smallest bucket of its IDs, otherwise a new one, which it stores.
  ///
  /// The customer has all IDs that Apple links with `ids`. Every ID of the receipt keeps the bucket, which never
  /// becomes larger.
  ///
  /// - Parameter ids: originalTransactionIds of a proven receipt, at least one.
  package static func decide(
    _ ids: [String], app: App, in scope: AppScope, salt: String, at now: Timestamp, session: borrowing Session
  ) throws(DatabaseError) -> Bucket? {
    let own = Array(Set(ids).sorted().prefix(mostMembers))
    guard !own.isEmpty else { return nil }
    let all = try members(of: own, in: scope, session)
    var kept: [String: Int] = [:]
    try session.read("original_transaction_id, bucket", of: .buckets, all, in: scope) { row throws(DatabaseError) in
      kept[try row.text("original_transaction_id")] = try row.int("bucket")
    }
    let known = kept.values.min().flatMap { Bucket(number: $0) }
    let bucket = known ?? Bucket(salt: salt, app: app.bundleID, customer: all.min() ?? own[0])
    let missing = own.filter { kept[$0] == nil }
    if !missing.isEmpty {
      _ = try session.insert(
        insert,
        rows: missing.map { id -> [SQLValue] in
          scope.columns + [.text(id), .integer(Int64(bucket.number)), .integer(now.sinceEpoch)]
        })
    }
    return bucket
  }

  // Two processes that decide at the same time agree on the smaller bucket.
  private static let insert = BulkInsert(
    into: "INSERT INTO buckets (app, environment, original_transaction_id, bucket, decided_at) VALUES",
    then: "ON DUPLICATE KEY UPDATE bucket = LEAST(bucket, VALUES(bucket))")

  static func members(
    of ids: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String] {
    var all = Set(ids)
    let nodes = ids.map { CustomerNode.originalTransactionID($0).text }
    for nodes in nodes.parts() {
      for row in try session.query(
        """
        SELECT SUBSTRING(m.node, 2) AS id FROM \(CustomerMembers.together(nodes, in: scope))
        WHERE m.node LIKE 'o%' ORDER BY m.node LIMIT \(mostMembers)
        """)
      {
        all.insert(try row.text("id"))
      }
    }
    return all.sorted()
  }
}
