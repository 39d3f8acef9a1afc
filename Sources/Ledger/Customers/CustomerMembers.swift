import Database
import Purchases

/// Who belongs together, read from `customers`.
enum CustomerMembers {
  /// Every member of the customers to whom the nodes belong, as a table named `m`: each once, whichever nodes led to it.
  static func together(_ nodes: [String], in scope: AppScope) -> SQL {
    """
    (SELECT DISTINCT label FROM \(Table.customers.each(nodes, in: scope))) together
    STRAIGHT_JOIN customers m FORCE INDEX (app) ON m.app = \(scope.app.number)
      AND m.environment = \(scope.environment.code) AND m.label = together.label
    """
  }

  /// The labels of the customers of these nodes, by node; one that nothing links has none.
  static func labels(
    ofNodes nodes: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: String] {
    var labels: [String: String] = [:]
    try session.read("node, label", of: .customers, nodes, in: scope) { row throws(DatabaseError) in
      labels[try row.text("node")] = try row.text("label")
    }
    return labels
  }

  /// Every member of the customers of these labels, by label.
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

  /// Every member of the customers to whom the nodes belong, each customer called by its smallest member.
  ///
  /// Without a link a node is a customer of its own.
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
