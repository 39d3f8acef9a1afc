/// The sets of joined nodes, each named by its smallest member, regardless of the order of joins.
struct DisjointSets<Node: Hashable & Comparable & Sendable>: Sendable {
  private var parents: [Node: Node] = [:]

  mutating func join(_ a: Node, _ b: Node) {
    let (rootA, rootB) = (label(of: a), label(of: b))
    if rootA != rootB { parents[max(rootA, rootB)] = min(rootA, rootB) }
  }

  /// Returns the smallest member of the node's set.
  ///
  /// An unknown node is a separate set.
  mutating func label(of node: Node) -> Node {
    var root = node
    while let parent = parents[root] { root = parent }
    var walked = node
    while let parent = parents[walked], parent != root {
      parents[walked] = root
      walked = parent
    }
    return root
  }
}
