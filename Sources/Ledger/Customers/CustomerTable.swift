import Database
import Purchases

/// `links` and `customers`: who belongs together, and the label that the members of each customer share.
///
/// A label is one of the customer's own members, whichever: when customers join, the smaller one takes the label of the
/// larger. So a member gets a new label only when its customer at least doubles, and n members cost n log n rows in whatever
/// order their links come. What people see is the smallest member, which does not depend on that order.
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

  /// Moves what else is kept under labels to their new ones, in the same transaction.
  typealias Renaming = ([String: String], AppScope, borrowing Session) throws(DatabaseError) -> Void

  /// Notes the links, and gives new labels where customers joined.
  static func note(
    _ findings: [(App.ID, Findings)], renaming: Renaming, in session: borrowing Session
  ) throws(DatabaseError) {
    var links: [AppScope: Set<CustomerLink>] = [:]
    for (app, findings) in findings where !findings.links.isEmpty {
      links[AppScope(app: app, environment: findings.environment), default: []].formUnion(findings.links)
    }
    for (scope, links) in links.sorted(by: { $0.key < $1.key }) {
      let rows: [[SQLValue]] = links.map { scope.columns + [.text($0.a.text), .text($0.b.text)] }
      // Mostly every link is known, and then nothing can have changed.
      guard try session.insert(insertLink, rows: rows.inKeyOrder(columns: 4)) > 0 else { continue }
      try renaming(try join(links, in: scope, session), scope, session)
    }
  }

  /// Gives every member of the customers that `links` join one label; returns which labels went, and what each became.
  ///
  /// The rows are made and locked before a label is read, and so are those of the labels, in order: two processes that
  /// join the same customers at once wait for each other and come to the same end.
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

  /// Makes rows of the nodes that have none; those that are new, and so are nobody else's label.
  private static func insert(
    _ nodes: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    let known = Set(try CustomerMembers.labels(ofNodes: nodes, in: scope, session).keys)
    let missing = nodes.filter { !known.contains($0) }
    let inserted = try session.insert(insertNode, rows: missing.map { scope.columns + [.text($0), .text($0)] })
    // Fewer: somebody else made some of them meanwhile, and may have joined them.
    return inserted == UInt64(missing.count) ? Set(missing) : []
  }

  /// The labels of these nodes and of the labels themselves, their rows locked until the transaction ends.
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

  /// The label of the most members, of equals the smaller; what is `new` has none but itself.
  ///
  /// Counts no further than it takes to tell: about as many rows are read as the second largest has. A count that is
  /// overtaken at this moment costs rows, and nothing else.
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

  /// Gives every member of the customers of these labels another.
  private static func rename(
    _ renamed: [String: String], _ new: Set<String>, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) {
    var rows: [[SQLValue]] = []
    // A node that was made here is the only member of its own, and its row is locked.
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

  /// The labels of the customers to whom these nodes belong; none of a node without a link, a customer of its own.
  ///
  /// The rows are locked against `join` until the transaction ends: what is written under a label is moved by a join
  /// that comes later, and none comes in between.
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
