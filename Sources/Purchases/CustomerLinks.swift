/// A link between two originalTransactionIds of one customer, or between one and its appTransactionId.
///
/// Only Apple's data creates a link: the lines of one verified receipt, an equal signed appTransactionId, or one
/// response that Switchyard fetched. Links are never removed. Account tokens create no links: people share accounts.
public struct CustomerLink: Hashable, Sendable {
  public let app: String
  public let environment: Environment
  public let a: CustomerNode
  public let b: CustomerNode

  /// Creates a link of the two nodes in any order.
  public init(app: String, environment: Environment, _ a: CustomerNode, _ b: CustomerNode) {
    self.app = app
    self.environment = environment
    self.a = min(a, b)
    self.b = max(a, b)
  }

  public static func chain(_ ids: [String], app: String, environment: Environment) -> [CustomerLink] {
    zip(ids, ids.dropFirst()).map { first, second in
      CustomerLink(app: app, environment: environment, .originalTransactionID(first), .originalTransactionID(second))
    }
  }
}

public enum CustomerNode: Hashable, Sendable, Comparable {
  case originalTransactionID(String)
  case appTransactionID(String)

  /// The text in tables: `o` or `t` before the ID, so that a customer's label is an originalTransactionId if it has
  /// one.
  public var text: String {
    switch self {
    case .originalTransactionID(let id): "o\(id)"
    case .appTransactionID(let id): "t\(id)"
    }
  }

  /// The ID by which the customer can be found.
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

/// The customer of each node in one app and environment: the connected component, named by its smallest member.
///
/// Nodes do not name their app, so never mix links of several apps or environments.
public struct CustomerLabels: Sendable {
  private var components = DisjointSets<CustomerNode>()

  public init() {}

  public mutating func note(_ node: CustomerNode, label: CustomerNode) { components.join(node, label) }

  public mutating func join(_ a: CustomerNode, _ b: CustomerNode) { components.join(a, b) }

  /// Returns the smallest member of the node's customer.
  ///
  /// An unknown node is a separate customer.
  public mutating func label(of node: CustomerNode) -> CustomerNode { components.label(of: node) }
}
