import Database
package import Purchases
import Signing

package struct UnconfirmedLink: Hashable, Sendable {
  package let a: CustomerNode
  package let b: CustomerNode
  /// The SHA-256 of a message with the link, the smallest of several.
  package let message: [UInt8]

  package init(a: CustomerNode, b: CustomerNode, message: [UInt8]) {
    self.a = a
    self.b = b
    self.message = message
  }
}

/// `claimed_links`: IDs that unsigned messages name together, which joins no customers.
enum UnconfirmedLinkTable {
  private static let upsert = BulkInsert(
    into: "INSERT INTO claimed_links (app, environment, a, b, message) VALUES",
    then: "ON DUPLICATE KEY UPDATE message = LEAST(message, VALUES(message))")

  /// The maximum number of links that a lookup reads.
  ///
  /// A stranger can create any number of them.
  static let mostRead = 1_000

  static func note(
    _ messages: [(message: InboxMessage, app: App.ID, findings: Findings)], in session: borrowing Session
  ) throws(DatabaseError) {
    let rows = messages.flatMap { message, app, findings -> [[SQLValue]] in
      let scope = AppScope(app: app, environment: findings.environment)
      return findings.claimedLinks.map { link in
        scope.columns + [.text(link.a.text), .text(link.b.text), .bytes(message.digest.bytes)]
      }
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 4))
  }

  /// Returns at most `mostRead` claimed links from `members` to other nodes, in order.
  static func links(
    from members: Set<CustomerNode>, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [UnconfirmedLink] {
    var found: Set<UnconfirmedLink> = []
    for nodes in members.map(\.text).sorted().parts() {
      guard found.count < mostRead else { break }
      try session.query(
        """
        (SELECT a, b, message FROM claimed_links
          WHERE \(in: scope) AND a IN (\(list: nodes)) ORDER BY a, b LIMIT \(mostRead))
        UNION (SELECT a, b, message FROM claimed_links
          WHERE \(in: scope) AND b IN (\(list: nodes)) ORDER BY b, a LIMIT \(mostRead))
        """
      ) { row throws(DatabaseError) in
        guard let a = CustomerNode(text: try row.text("a")), let b = CustomerNode(text: try row.text("b")) else {
          return
        }
        // The remaining links are within the customer: Apple has joined both nodes since.
        if members.contains(a) != members.contains(b) {
          found.insert(UnconfirmedLink(a: a, b: b, message: try row.bytes("message")))
        }
      }
    }
    return Array(found.sorted { ($0.a, $0.b) < ($1.a, $1.b) }.prefix(mostRead))
  }

  static func read(
    in scope: AppScope, _ session: borrowing Session, each: (UnconfirmedLink) throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    try session.query(
      "SELECT a, b, message FROM claimed_links WHERE \(in: scope) ORDER BY a, b"
    ) { row throws(DatabaseError) in
      guard let a = CustomerNode(text: try row.text("a")), let b = CustomerNode(text: try row.text("b")) else { return }
      try each(UnconfirmedLink(a: a, b: b, message: try row.bytes("message")))
    }
  }
}
