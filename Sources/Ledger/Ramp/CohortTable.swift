package import Database
import Purchases
package import Time

/// `ramp_cohorts`: customers who get our answers before all others, in every ramp of the app.
package enum CohortTable {
  /// By what a customer is named; its number in the table.
  package enum Kind: Int, Hashable, Sendable, CaseIterable {
    case originalTransactionID = 1
    case userID = 2
    case accountToken = 3

    /// The word before the colon, as an operator writes it.
    package var name: String {
      switch self {
      case .originalTransactionID: "customer"
      case .userID: "user"
      case .accountToken: "token"
      }
    }
  }

  package struct Member: Hashable, Sendable {
    package let kind: Kind
    package let name: String

    /// A token counts in upper and lower case alike, as in `attributions`.
    package init(_ kind: Kind, _ name: String) {
      self.kind = kind
      self.name = kind == .accountToken ? Alias.normalized(accountToken: name) : name
    }
  }

  private static let insert = RowsInsert(
    into: "INSERT INTO ramp_cohorts (app, environment, kind, member, added_at) VALUES",
    then: "ON DUPLICATE KEY UPDATE member = VALUES(member)")

  package static func add(
    _ members: [Member], to scope: Scope, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    for members in members.parts() {
      _ = try session.insert(
        insert,
        rows: members.map { member -> [SQLValue] in
          scope.columns + [.integer(Int64(member.kind.rawValue)), .text(member.name), .integer(now.sinceEpoch)]
        })
    }
  }

  package static func remove(
    _ members: [Member], from scope: Scope, in session: borrowing Session
  ) throws(DatabaseError) {
    for kind in Kind.allCases {
      for names in members.filter({ $0.kind == kind }).map(\.name).parts() {
        _ = try session.execute(
          """
          DELETE FROM ramp_cohorts WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
            AND kind = \(kind.rawValue) AND member IN (\(list: names))
          """)
      }
    }
  }

  /// The members by kind and name.
  package static func members(of scope: Scope, in session: borrowing Session) throws(DatabaseError) -> [Member] {
    var members: [Member] = []
    for row in try session.query(
      """
      SELECT kind, member FROM ramp_cohorts
      WHERE app = \(scope.app.number) AND environment = \(scope.environment.code) ORDER BY kind, member
      """)
    {
      guard let kind = Kind(rawValue: try row.int("kind")) else {
        throw DatabaseError(.column, "a cohort's member is of a kind that this build does not know")
      }
      members.append(Member(kind, try row.text("member")))
    }
    return members
  }

  /// Whether the customer of these ids is in the app's cohort, by an id, by a user id or by an account token.
  package static func holds(
    _ ids: [String], in scope: Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    let (app, environment) = (scope.app.number, scope.environment.code)
    // Most apps have none, and then nothing more is read.
    let any = try session.query(
      "SELECT 1 FROM ramp_cohorts FORCE INDEX (PRIMARY) WHERE app = \(app) AND environment = \(environment) LIMIT 1")
    guard !any.isEmpty else { return false }
    for ids in try BucketTable.members(of: ids, in: scope, session).parts() {
      let found = try session.query(
        """
        SELECT 1 FROM \(.listed(ids)) STRAIGHT_JOIN ramp_cohorts FORCE INDEX (PRIMARY) ON app = \(app)
          AND environment = \(environment) AND kind = \(Kind.originalTransactionID.rawValue) AND member = listed.wanted
        UNION ALL SELECT 1 FROM \(.listed(ids)) STRAIGHT_JOIN attributions a FORCE INDEX (PRIMARY)
          ON a.app = \(app) AND a.environment = \(environment) AND a.original_transaction_id = listed.wanted
        STRAIGHT_JOIN ramp_cohorts c FORCE INDEX (PRIMARY) ON c.app = \(app) AND c.environment = \(environment)
          AND c.kind = IF(a.kind = \(Attribution.Kind.userID.rawValue), \(Kind.userID.rawValue), \(Kind.accountToken.rawValue))
          AND c.member = a.value
        WHERE a.kind IN (\(Attribution.Kind.userID.rawValue), \(Attribution.Kind.appAccountToken.rawValue))
        LIMIT 1
        """)
      if !found.isEmpty { return true }
    }
    return false
  }
}
