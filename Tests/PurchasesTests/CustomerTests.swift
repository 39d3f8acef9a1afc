@Suite struct `A customer` {
  @Test func `is a connected component, called by its smallest member, in any order`() {
    var random = SeededRandom()
    for _ in 0..<200 {
      let nodes = (0..<12).map { number in
        number < 9 ? CustomerNode.originalTransactionID("\(number)") : .appTransactionID("\(number)")
      }
      func anyNode() -> CustomerNode { nodes[Int.random(in: 0..<nodes.count, using: &random)] }
      let edges = (0..<Int.random(in: 0...14, using: &random)).map { _ in (anyNode(), anyNode()) }
      let expected = naive(nodes, edges)

      var labels = CustomerLabels()
      for (a, b) in edges.shuffled(using: &random) {
        Bool.random(using: &random) ? labels.join(a, b) : labels.join(b, a)
      }
      for node in nodes { #expect(labels.label(of: node) == expected[node], "seed \(random.seed)") }

      // As a ledger does it: labels of some links are kept, the others come later.
      var kept = CustomerLabels()
      for (a, b) in edges.prefix(edges.count / 2) { kept.join(a, b) }
      var later = CustomerLabels()
      for node in nodes.shuffled(using: &random) { later.note(node, label: kept.label(of: node)) }
      for (a, b) in edges.dropFirst(edges.count / 2) { later.join(a, b) }
      for node in nodes { #expect(later.label(of: node) == expected[node], "seed \(random.seed)") }
    }
  }

  /// Repeats "the smaller of the two" along every edge until nothing changes.
  private func naive(
    _ nodes: [CustomerNode], _ edges: [(CustomerNode, CustomerNode)]
  ) -> [CustomerNode: CustomerNode] {
    var labels = Dictionary(uniqueKeysWithValues: nodes.map { ($0, $0) })
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for (a, b) in edges {
        guard let labelA = labels[a], let labelB = labels[b], labelA != labelB else { continue }
        (labels[a], labels[b]) = (min(labelA, labelB), min(labelA, labelB))
        hasChanged = true
      }
    }
    return labels
  }

  @Test func `is called by an originalTransactionId when it has one`() {
    var labels = CustomerLabels()
    labels.join(.appTransactionID("1"), .appTransactionID("0"))
    #expect(labels.label(of: .appTransactionID("1")) == .appTransactionID("0"))
    labels.join(.appTransactionID("1"), .originalTransactionID("9"))
    #expect(labels.label(of: .appTransactionID("0")) == .originalTransactionID("9"))
    #expect(labels.label(of: .originalTransactionID("never heard of")) == .originalTransactionID("never heard of"))
  }

  @Test func `has nodes that are read back from a table, and links that know no direction`() {
    for node in [CustomerNode.originalTransactionID("12"), .appTransactionID("o"), .originalTransactionID("")] {
      #expect(CustomerNode(text: node.text) == node)
    }
    #expect(CustomerNode(text: "x1") == nil)
    #expect(CustomerNode(text: "") == nil)
    let (a, b) = (CustomerNode.appTransactionID("1"), CustomerNode.originalTransactionID("2"))
    let link = CustomerLink(app: app, environment: .sandbox, a, b)
    #expect(link == CustomerLink(app: app, environment: .sandbox, b, a))
    #expect(link.a == b)
  }
}
