import Database
import Purchases
import Signing

/// A table with the key and the index that look up its rows, mostly within an app and an environment.
///
/// Each form names the index and the order of the join, for the reason in `SQL.listed`. A condition after it, as `AND
/// …`, uses the index too if it has the column.
struct Table: Sendable {
  let name: SQL
  private let key: SQL
  private let index: SQL

  init(_ name: SQL, key: SQL = "original_transaction_id", index: SQL = "PRIMARY") {
    (self.name, self.key, self.index) = (name, key, index)
  }

  func each(_ ids: [String], in scope: AppScope) -> SQL {
    "\(.listed(ids)) STRAIGHT_JOIN \(by(index)) ON \(in: scope) AND \(key) = listed.wanted"
  }

  func each(_ ids: [String], kinds: [Int], in scope: AppScope) -> SQL {
    """
    \(.listed(ids)) STRAIGHT_JOIN \(.codes(kinds, "kinds")) STRAIGHT_JOIN \(by(index))
    ON \(in: scope) AND \(name).kind = kinds.code AND \(key) = listed.wanted
    """
  }

  func each(_ digests: [[UInt8]]) -> SQL {
    "\(.listed(digests)) STRAIGHT_JOIN \(by(index)) ON \(name).\(key) = listed.wanted"
  }

  /// Returns the rows of the ID in each environment.
  func everywhere(_ id: String, of app: App.ID) -> SQL {
    "\(.places) STRAIGHT_JOIN \(by(index)) ON app = \(app.number) AND environment = places.code AND \(key) = \(id)"
  }

  func everywhere(_ ids: [String], of app: App.ID) -> SQL {
    """
    \(.listed(ids)) STRAIGHT_JOIN \(.places) STRAIGHT_JOIN \(by(index))
    ON app = \(app.number) AND environment = places.code AND \(key) = listed.wanted
    """
  }

  func everywhere(_ id: String, kinds: [Int], of app: App.ID) -> SQL {
    """
    \(.places) STRAIGHT_JOIN \(.codes(kinds, "kinds")) STRAIGHT_JOIN \(by(index))
    ON app = \(app.number) AND environment = places.code AND \(name).kind = kinds.code AND \(key) = \(id)
    """
  }

  /// Returns the rows of one ID, for an `ORDER BY` and a `LIMIT`.
  func range(_ id: String, in scope: AppScope) -> SQL { "\(by(index)) WHERE \(in: scope) AND \(key) = \(id)" }

  /// Returns the table with one of its indexes, for a query or a change.
  func by(_ index: SQL) -> SQL { "\(name) FORCE INDEX (\(index))" }

  func known(_ digests: some Sequence<Digest>, in session: borrowing Session) throws(DatabaseError) -> Set<Digest> {
    var known: Set<Digest> = []
    try session.query("SELECT \(name).\(key) FROM \(each(digests.map(\.bytes)))") { row throws(DatabaseError) in
      if let digest = Digest(bytes: try row.bytes(0)) { known.insert(digest) }
    }
    return known
  }

  static let purchases = Table("purchases")
  static let renewals = Table("renewals")
  static let appTransactions = Table("app_transactions", key: "app_transaction_id")
  static let events = Table("events", index: "app")
  static let eventIDs = Table("events", key: "id")
  static let aliases = Table("aliases", key: "alias")
  static let claimedAliases = Table("claimed_aliases", key: "alias")
  static let attributions = Table("attributions")
  static let claimedValues = Table("claimed_attributions", key: "value", index: "by_value")
  static let userIDs = Table("user_ids", key: "user_id")
  static let customers = Table("customers", key: "node")
  static let labels = Table("customers", key: "label", index: "app")
  static let histories = Table("histories")
  static let renewalChecks = Table("renewal_checks")
  static let claimedChanges = Table("claimed_changes")
  static let buckets = Table("buckets")
  static let work = Table("work", key: "subject", index: "app")
  static let refundSweeps = Table("refund_sweeps", key: "customer")
  static let inbox = Table("inbox", key: "digest")
  static let quarantine = Table("quarantine", key: "digest")
  static let bodies = Table("bodies", key: "digest")
  static let headers = Table("headers", key: "digest")
  static let claims = Table("claims", key: "digest")
  static let migrationReceipts = Table("migration_receipts", key: "digest")
  static let migrationLinks = Table("migration_links", key: "digest")
}

extension Session {
  /// Reads rows by their IDs, in order, as many at a time as a statement lists.
  func read(
    _ columns: SQL, of table: Table, _ ids: some Sequence<String>, in scope: AppScope, _ rest: SQL = "",
    each: (Row) throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    for ids in ids.sorted().parts() {
      try query("SELECT \(columns) FROM \(table.each(ids, in: scope)) \(rest)", each: each)
    }
  }
}

extension SQL.Interpolation {
  /// Appends the condition that a row belongs to this app and environment.
  mutating func appendInterpolation(in scope: AppScope) {
    appendInterpolation("app = \(scope.app.number) AND environment = \(scope.environment.code)" as SQL)
  }
}

extension SQL {
  /// Returns numbers as a table with one column `code`, for a join.
  fileprivate static func codes(_ codes: [Int], _ name: SQL) -> SQL {
    let each: [SQL] = codes.map { "SELECT \(digits: Int64($0)) AS code" }
    return "(\(each.joined(separator: " UNION ALL "))) \(name)"
  }

  fileprivate static let places = codes(Environment.allCases.map(\.code), "places")
}
