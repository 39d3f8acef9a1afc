import Database
import Purchases

/// Who belongs together, read from `customers`.
enum CustomerMembers {
  /// Every member of the customers to whom the nodes belong, as a table named `m`: each once, whichever nodes led to it.
  static func together(_ nodes: [String], in scope: Scope) -> SQL {
    let place: SQL = "app = \(scope.app.number) AND environment = \(scope.environment.code)"
    return """
      (SELECT DISTINCT label FROM \(.listed(nodes)) STRAIGHT_JOIN customers FORCE INDEX (PRIMARY)
        ON \(place) AND node = listed.wanted) together
      STRAIGHT_JOIN customers m FORCE INDEX (app) ON m.app = \(scope.app.number)
        AND m.environment = \(scope.environment.code) AND m.label = together.label
      """
  }

  /// The labels of the customers of these nodes, by node; one that nothing links has none.
  static func labels(
    ofNodes nodes: [String], in scope: Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: String] {
    var labels: [String: String] = [:]
    for nodes in nodes.parts() {
      try session.query(
        """
        SELECT c.node, c.label FROM \(.listed(nodes)) STRAIGHT_JOIN customers c FORCE INDEX (PRIMARY)
        ON c.app = \(scope.app.number) AND c.environment = \(scope.environment.code) AND c.node = listed.wanted
        """
      ) { row throws(DatabaseError) in labels[try row.text("node")] = try row.text("label") }
    }
    return labels
  }

  /// Every member of the customers of these labels, by label.
  private static func members(
    ofLabels labels: [String], in scope: Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: Set<CustomerNode>] {
    var members: [String: Set<CustomerNode>] = [:]
    for labels in labels.parts() {
      try session.query(
        """
        SELECT c.node, c.label FROM \(.listed(labels)) STRAIGHT_JOIN customers c FORCE INDEX (app)
        ON c.app = \(scope.app.number) AND c.environment = \(scope.environment.code) AND c.label = listed.wanted
        """
      ) { row throws(DatabaseError) in
        guard let node = CustomerNode(text: try row.text("node")) else { return }
        members[try row.text("label"), default: []].insert(node)
      }
    }
    return members
  }

  /// Every member of the customers to whom the nodes belong, each customer called by its smallest member.
  ///
  /// Without a link a node is a customer of its own.
  static func customers(
    of nodes: [CustomerNode], in scope: Scope, _ session: borrowing Session
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
