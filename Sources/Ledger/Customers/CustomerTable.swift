import Database
import Purchases

/// `links` and `customers`: the links between IDs, and the label of each customer's members.
///
/// A label is any member. When customers join, the smaller one gets the label of the larger, so n members cost n log n
/// rows in any order of links. Messages show the smallest member.
enum CustomerTable {
  private static let insertLink = BulkInsert(
    into: "INSERT INTO links (app, environment, a, b) VALUES", then: "ON DUPLICATE KEY UPDATE a = VALUES(a)",
    repeatsLast: true)

  private static let insertNode = BulkInsert(
    into: "INSERT INTO customers (app, environment, node, label) VALUES",
    then: "ON DUPLICATE KEY UPDATE node = VALUES(node)", repeatsLast: true)

  private static let upsertLabel = BulkInsert(
    into: "INSERT INTO customers (app, environment, node, label) VALUES",
    then: "ON DUPLICATE KEY UPDATE label = VALUES(label)", repeatsLast: true)

  /// Moves other data that is stored under labels to the new ones, in the same transaction.
  typealias Renaming = ([String: String], AppScope, borrowing Session) throws(DatabaseError) -> Void

  static func note(
    _ findings: [(App.ID, Findings)], renaming: Renaming, in session: borrowing Session
  ) throws(DatabaseError) {
    var links: [AppScope: Set<CustomerLink>] = [:]
    for (app, findings) in findings where !findings.links.isEmpty {
      links[AppScope(app: app, environment: findings.environment), default: []].formUnion(findings.links)
    }
    for (scope, links) in links.sorted(by: { $0.key < $1.key }) {
      let rows: [[SQLValue]] = links.map { scope.columns + [.text($0.a.text), .text($0.b.text)] }
      // Most links are known already, which changes no customer.
      guard try session.insert(insertLink, rows: rows.inKeyOrder(columns: 4)) > 0 else { continue }
      try renaming(try join(links, in: scope, session), scope, session)
    }
  }

  /// Gives all members of the joined customers one label, and returns the new label by old label.
  ///
  /// Rows are created and locked in order before a label is read, so concurrent joins get the same result.
  private static func join(
    _ links: Set<CustomerLink>, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: String] {
    let nodes = Set(links.flatMap { [$0.a, $0.b] }).map(\.text).sorted()
    let new = try insert(nodes, in: scope, session)
    let labels = try lock(nodes, in: scope, session)
    var customers = CustomerLabels()
    for (node, label) in labels {
      if let node = CustomerNode(text: node), let label = CustomerNode(text: label) {
        customers.note(node, label: label)
      }
    }
    for link in links { customers.join(link.a, link.b) }
    var joined: [CustomerNode: [String]] = [:]
    for label in Set(labels.values) {
      if let node = CustomerNode(text: label) { joined[customers.label(of: node), default: []].append(label) }
    }
    var renamed: [String: String] = [:]
    for labels in joined.values where labels.count > 1 {
      let kept = try largest(of: labels.sorted(), new, in: scope, session)
      for label in labels where label != kept { renamed[label] = kept }
    }
    try rename(renamed, new, in: scope, session)
    return renamed
  }

  /// Inserts the missing nodes, and returns the new ones, which are no other node's label.
  private static func insert(
    _ nodes: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    let known = Set(try CustomerMembers.labels(ofNodes: nodes, in: scope, session).keys)
    let missing = nodes.filter { !known.contains($0) }
    let inserted = try session.insert(insertNode, rows: missing.map { scope.columns + [.text($0), .text($0)] })
    // If fewer rows were inserted, another process created some of the nodes and may have joined them.
    return inserted == UInt64(missing.count) ? Set(missing) : []
  }

  /// Returns the labels of these nodes and of the labels themselves, and locks their rows until the transaction ends.
  private static func lock(
    _ nodes: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: String] {
    var labels: [String: String] = [:]
    var unread = nodes
    while !unread.isEmpty {
      try session.read("node, label", of: .customers, unread, in: scope, "ORDER BY node FOR UPDATE") {
        row throws(DatabaseError) in labels[try row.text("node")] = try row.text("label")
      }
      unread = Set(labels.values).filter { labels[$0] == nil }.sorted()
    }
    return labels
  }

  /// Returns the label with the most members, and the smaller of equals.
  ///
  /// A `new` label has only itself. It counts only until the largest is known. A concurrent change costs rows, not
  /// correctness.
  private static func largest(
    of labels: [String], _ new: Set<String>, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> String {
    let old = labels.filter { !new.contains($0) }
    guard let first = old.first else { return labels[0] }
    var (rest, limit) = (old, 16)
    while rest.count > 1 {
      var counts: [String: Int] = [:]
      for label in rest { counts[label] = try count(label, atMost: limit, in: scope, session) }
      let full = rest.filter { counts[$0] == limit }
      if full.isEmpty, let most = counts.values.max() { return rest.first { counts[$0] == most } ?? first }
      (rest, limit) = (full, limit * 8)
    }
    return rest.first ?? first
  }

  private static func count(
    _ label: String, atMost limit: Int, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Int {
    try session.query(
      "SELECT COUNT(*) AS count FROM (SELECT 1 FROM \(Table.labels.range(label, in: scope)) LIMIT \(limit)) AS counted"
    ).first?.int("count") ?? 0
  }

  private static func rename(
    _ renamed: [String: String], _ new: Set<String>, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) {
    var rows: [[SQLValue]] = []
    // A node that this transaction inserted is its customer's only member, and its row is locked.
    for (label, kept) in renamed where new.contains(label) {
      rows.append(scope.columns + [.text(label), .text(kept)])
    }
    let old = renamed.keys.filter { !new.contains($0) }
    try session.read("node, label", of: .labels, old, in: scope, "ORDER BY node FOR UPDATE") {
      row throws(DatabaseError) in
      let label = try row.text("label")
      rows.append(scope.columns + [.text(try row.text("node")), .text(renamed[label] ?? label)])
    }
    _ = try session.insert(upsertLabel, rows: rows.inKeyOrder(columns: 3))
  }

  /// Returns the labels of these nodes' customers.
  ///
  /// A node without a link has no label. The rows are locked until the transaction ends: a later join moves data that
  /// is written under a label.
  static func labels(
    of nodes: Set<CustomerNode>, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [CustomerNode: String] {
    var labels: [CustomerNode: String] = [:]
    try session.read("node, label", of: .customers, nodes.map(\.text), in: scope, "LOCK IN SHARE MODE") {
      row throws(DatabaseError) in
      if let node = CustomerNode(text: try row.text("node")) { labels[node] = try row.text("label") }
    }
    return labels
  }
}
