/// A fact that two originalTransactionIds belong to one customer, or that one belongs to an appTransactionId.
///
/// A link comes from what nobody but Apple can make: the lines of one verified receipt, an equal signed
/// appTransactionId, or one answer that Switchyard fetched from Apple. The set of links only grows. The account token
/// makes none: people share accounts.
public struct CustomerLink: Hashable, Sendable {
  public let app: String
  public let environment: Environment
  /// The smaller of the two.
  public let a: CustomerNode
  public let b: CustomerNode

  /// The two in order, whichever way round they are given.
  public init(app: String, environment: Environment, _ a: CustomerNode, _ b: CustomerNode) {
    self.app = app
    self.environment = environment
    self.a = min(a, b)
    self.b = max(a, b)
  }

  /// Returns the links that make one customer of these originalTransactionIds: one between each id and the next.
  public static func chain(_ ids: [String], app: String, environment: Environment) -> [CustomerLink] {
    zip(ids, ids.dropFirst()).map { first, second in
      CustomerLink(app: app, environment: environment, .originalTransactionID(first), .originalTransactionID(second))
    }
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

  /// The id itself, by which the customer can be asked for.
  public var id: String {
    switch self {
    case .originalTransactionID(let id), .appTransactionID(let id): id
    }
  }

  public init?(text: String) {
    switch text.first {
    case "o": self = .originalTransactionID(String(text.dropFirst()))
    case "t": self = .appTransactionID(String(text.dropFirst()))
    default: return nil
    }
  }

  public static func < (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.originalTransactionID(let a), .originalTransactionID(let b)),
      (.appTransactionID(let a), .appTransactionID(let b)):
      a < b
    case (.originalTransactionID, .appTransactionID): true
    case (.appTransactionID, .originalTransactionID): false
    }
  }
}

/// Which customer each node of one app and environment belongs to: the connected component, called by its smallest member.
///
/// Derived from the links alone; what a table keeps of it is a cache. Nodes do not name their app: links of two apps or
/// environments never go into one of these.
public struct CustomerLabels: Sendable {
  private var components = DisjointSets<CustomerNode>()

  public init() {}

  /// Notes that `node` was called `label` so far.
  public mutating func note(_ node: CustomerNode, label: CustomerNode) { components.join(node, label) }

  /// Makes one customer of the two.
  public mutating func join(_ a: CustomerNode, _ b: CustomerNode) { components.join(a, b) }

  /// The smallest member of the customer to whom `node` belongs; a node never heard of is a customer of its own.
  public mutating func label(of node: CustomerNode) -> CustomerNode { components.label(of: node) }
}
