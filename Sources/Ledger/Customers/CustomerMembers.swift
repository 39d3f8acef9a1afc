import Database
import Purchases

enum CustomerMembers {
  /// Returns every member of the nodes' customers, once each, as a table named `m`.
  static func together(_ nodes: [String], in scope: AppScope) -> SQL {
    """
    (SELECT DISTINCT label FROM \(Table.customers.each(nodes, in: scope))) together
    STRAIGHT_JOIN customers m FORCE INDEX (app) ON m.app = \(scope.app.number)
      AND m.environment = \(scope.environment.code) AND m.label = together.label
    """
  }

  /// Returns the labels of the nodes' customers.
  ///
  /// A node without a link has no label.
  static func labels(
    ofNodes nodes: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: String] {
    var labels: [String: String] = [:]
    try session.read("node, label", of: .customers, nodes, in: scope) { row throws(DatabaseError) in
      labels[try row.text("node")] = try row.text("label")
    }
    return labels
  }

  private static func members(
    ofLabels labels: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: Set<CustomerNode>] {
    var members: [String: Set<CustomerNode>] = [:]
    try session.read("node, label", of: .labels, labels, in: scope) { row throws(DatabaseError) in
      guard let node = CustomerNode(text: try row.text("node")) else { return }
      members[try row.text("label"), default: []].insert(node)
    }
    return members
  }

  /// Returns every member of the nodes' customers.
  ///
  /// The key of each customer is its smallest member. A node without a link is a separate customer.
  static func customers(
    of nodes: [CustomerNode], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: Set<CustomerNode>] {
    let labels = try labels(ofNodes: nodes.map(\.text), in: scope, session)
    var customers: [String: Set<CustomerNode>] = [:]
    for members in try members(ofLabels: Set(labels.values).sorted(), in: scope, session).values {
      if let smallest = members.min() { customers[smallest.text] = members }
    }
    for node in nodes where labels[node.text] == nil { customers[node.text] = [node] }
    return customers
  }
}
