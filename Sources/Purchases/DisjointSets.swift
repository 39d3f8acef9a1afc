/// Which nodes belong together, each set called by its smallest member, whatever the order in which they were joined.
struct DisjointSets<Node: Hashable & Comparable & Sendable>: Sendable {
  private var parents: [Node: Node] = [:]

  mutating func join(_ a: Node, _ b: Node) {
    let (rootA, rootB) = (label(of: a), label(of: b))
    if rootA != rootB { parents[max(rootA, rootB)] = min(rootA, rootB) }
  }

  /// The smallest member of the set of `node`; a node never heard of is a set of its own.
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
