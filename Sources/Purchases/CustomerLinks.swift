/// A fact that two originalTransactionIds belong to one customer, or that one belongs to an appTransactionId.
///
/// The set of links only grows. The account token makes none: people share accounts.
public struct CustomerLink: Hashable, Sendable {
  public var app: String
  public var environment: Environment
  public var a: CustomerNode
  public var b: CustomerNode

  /// The two in order, whichever way round they are given.
  public init(app: String, environment: Environment, _ a: CustomerNode, _ b: CustomerNode) {
    self.app = app
    self.environment = environment
    self.a = min(a, b)
    self.b = max(a, b)
  }
}

/// A member of a customer.
public enum CustomerNode: Hashable, Sendable, Comparable {
  case originalTransactionID(String)
  case appTransactionID(String)

  /// As it stands in a table: `o` or `t` before the id, so that a customer's label is an originalTransactionId when it has one.
  public var text: String {
    switch self {
    case .originalTransactionID(let id): "o\(id)"
    case .appTransactionID(let id): "t\(id)"
    }
  }

  public init?(text: String) {
    switch text.first {
    case "o": self = .originalTransactionID(String(text.dropFirst()))
    case "t": self = .appTransactionID(String(text.dropFirst()))
    default: return nil
    }
  }

  public static func < (a: Self, b: Self) -> Bool { a.text < b.text }
}

/// Which customer each node belongs to: the connected component, called by its smallest member.
///
/// Derived from the links alone; what a table keeps of it is a cache.
public struct CustomerLabels: Sendable {
  private var parents: [CustomerNode: CustomerNode] = [:]

  public init() {}

  /// Notes that `node` was called `label` so far.
  public mutating func note(_ node: CustomerNode, label: CustomerNode) { join(node, label) }

  /// Makes one customer of the two.
  public mutating func join(_ a: CustomerNode, _ b: CustomerNode) {
    let (rootA, rootB) = (label(of: a), label(of: b))
    if rootA == rootB { return }
    parents[max(rootA, rootB)] = min(rootA, rootB)
  }

  /// The smallest member of the customer to whom `node` belongs; a node never heard of is a customer of its own.
  public mutating func label(of node: CustomerNode) -> CustomerNode {
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
