import Database
import Purchases

/// `links` and `customers`: who belongs together, and what each customer is called because of it.
enum CustomerTable {
  private static let insertLink = RowsInsert(
    into: "INSERT INTO links (app, environment, a, b) VALUES", then: "ON DUPLICATE KEY UPDATE a = VALUES(a)")

  private static let insertNode = RowsInsert(
    into: "INSERT INTO customers (app, environment, node, label) VALUES",
    then: "ON DUPLICATE KEY UPDATE node = VALUES(node)")

  private static let upsertLabel = RowsInsert(
    into: "INSERT INTO customers (app, environment, node, label) VALUES",
    then: "ON DUPLICATE KEY UPDATE label = VALUES(label)")

  /// Notes the links, and gives new names where customers joined.
  static func note(_ findings: [(App.ID, Findings)], in session: borrowing Session) throws(DatabaseError) {
    var links: [Ledger.Scope: Set<CustomerLink>] = [:]
    for (app, findings) in findings where !findings.links.isEmpty {
      links[Ledger.Scope(app: app, environment: findings.environment), default: []].formUnion(findings.links)
    }
    for (scope, links) in links.sorted(by: { $0.key < $1.key }) {
      let rows: [[SQLValue]] = links.map { scope.columns + [.text($0.a.text), .text($0.b.text)] }
      // Mostly every link is known, and then nothing can have changed.
      guard try session.insert(insertLink, rows: rows.inKeyOrder(columns: 4)) > 0 else { continue }
      try relabel(links, in: scope, session)
    }
  }

  /// Gives every node of the customers that `links` join one label: the smallest node.
  ///
  /// The rows are made and locked before a label is read, and so are those of the roots, in order: two processes that
  /// join the same customers at once wait for each other and come to the same end.
  private static func relabel(
    _ links: Set<CustomerLink>, in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) {
    let nodes = Set(links.flatMap { [$0.a, $0.b] }).map(\.text).sorted()
    _ = try session.insert(insertNode, rows: nodes.map { scope.columns + [.text($0), .text($0)] })

    var labels: [String: String] = [:]
    var unread = nodes
    while !unread.isEmpty {
      for (node, label) in try lock(unread, in: scope, session) { labels[node] = label }
      unread = Set(labels.values).filter { labels[$0] == nil }.sorted()
    }

    var customers = CustomerLabels()
    for (node, label) in labels {
      if let node = CustomerNode(text: node), let label = CustomerNode(text: label) {
        customers.note(node, label: label)
      }
    }
    for link in links { customers.join(link.a, link.b) }

    var renamed: [String: String] = [:]
    for root in Set(labels.values) {
      guard let node = CustomerNode(text: root), case let label = customers.label(of: node).text, label != root else {
        continue
      }
      renamed[root] = label
    }
    guard !renamed.isEmpty else { return }
    var rows: [[SQLValue]] = []
    for (node, root) in try lockMembers(of: renamed.keys.sorted(), in: scope, session) {
      rows.append(scope.columns + [.text(node), .text(renamed[root] ?? root)])
    }
    _ = try session.insert(upsertLabel, rows: rows.inKeyOrder(columns: 3))
    try OutboxKeys.rename(renamed, in: scope, session)
  }

  /// The labels of the customers to whom these nodes belong; none of a node without a link, a customer of its own.
  ///
  /// The rows are locked against `relabel` until the transaction ends: what is written under a label is moved by a join
  /// that comes later, and none comes in between.
  static func labels(
    of nodes: Set<CustomerNode>, in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [CustomerNode: String] {
    var labels: [CustomerNode: String] = [:]
    for part in nodes.map(\.text).sorted().parts() {
      for row in try session.query(
        """
        SELECT node, label FROM customers WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
        AND node IN (\(list: part)) LOCK IN SHARE MODE
        """)
      {
        guard let node = CustomerNode(text: try row.text("node")) else { continue }
        labels[node] = try row.text("label")
      }
    }
    return labels
  }

  /// The labels of these nodes, their rows locked until the transaction ends.
  private static func lock(
    _ nodes: [String], in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [(String, String)] {
    try pairs(
      session.query(
        """
        SELECT node, label FROM customers WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
        AND node IN (\(list: nodes)) ORDER BY node FOR UPDATE
        """))
  }

  /// Every node that is called by one of these labels, locked likewise.
  private static func lockMembers(
    of roots: [String], in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [(String, String)] {
    try pairs(
      session.query(
        """
        SELECT node, label FROM customers WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
        AND label IN (\(list: roots)) ORDER BY node FOR UPDATE
        """))
  }

  private static func pairs(_ rows: [Row]) throws(DatabaseError) -> [(String, String)] {
    var pairs: [(String, String)] = []
    for row in rows { pairs.append((try row.text("node"), try row.text("label"))) }
    return pairs
  }

  /// Every member of the customers to whom the originalTransactionIds belong, by the customer's label.
  ///
  /// Without a link a purchase is a customer of its own.
  static func members(
    of originals: [String], in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: Set<CustomerNode>] {
    let nodes = originals.map(CustomerNode.originalTransactionID)
    var members = try members(ofNodes: nodes, in: scope, session)
    let linked = Set(members.values.joined())
    for node in nodes where !linked.contains(node) { members[node.text] = [node] }
    return members
  }

  /// The members of the customer who has this appTransactionId; none when nobody has.
  static func members(
    ofAppTransaction id: String, in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: Set<CustomerNode>] {
    try members(ofNodes: [.appTransactionID(id)], in: scope, session)
  }

  private static func members(
    ofNodes nodes: [CustomerNode], in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: Set<CustomerNode>] {
    var members: [String: Set<CustomerNode>] = [:]
    for row in try session.query(
      """
      SELECT m.node, m.label FROM customers m WHERE m.app = \(scope.app.number)
      AND m.environment = \(scope.environment.code) AND m.label IN (SELECT n.label FROM customers n
      WHERE n.app = \(scope.app.number) AND n.environment = \(scope.environment.code)
      AND n.node IN (\(list: nodes.map(\.text))))
      """)
    {
      if let node = CustomerNode(text: try row.text("node")) {
        members[try row.text("label"), default: []].insert(node)
      }
    }
    return members
  }
}
