public import Time

/// An ID that finds a purchase, other than its originalTransactionId.
public struct Alias: Hashable, Sendable {
  public enum Kind: Int, Hashable, Sendable, CaseIterable {
    case transactionID = 1
    case webOrderLineItemID = 2
    case appTransactionID = 3
    /// The account that the app set at the purchase.
    ///
    /// Shared accounts may find several customers.
    case appAccountToken = 4
    /// The ID on the customer's invoice, of an order that was looked up at Apple.
    case orderID = 5

    public var name: String { "\(self)" }
  }

  public var kind: Kind
  public var id: String
  public var originalTransactionID: String
  /// Empty for the whole subscription.
  public var line: Line
  public var asOf: Timestamp
  /// Whether only an unsigned message assigns the ID.
  public internal(set) var isClaimed: Bool

  init(
    _ kind: Kind, _ id: String, _ originalTransactionID: String, _ line: Line, asOf: Timestamp, isClaimed: Bool
  ) {
    self.kind = kind
    self.id = kind == .appAccountToken ? Alias.normalized(accountToken: id) : id
    self.originalTransactionID = originalTransactionID
    self.line = line
    self.asOf = asOf
    self.isClaimed = isClaimed
  }

  /// Creates another transaction ID of `key` from an unsigned body: V1 creates a new one with every restore.
  public init(transactionID: String, of key: PurchaseKey, asOf: Timestamp) {
    self.init(.transactionID, transactionID, key.originalTransactionID, key.line, asOf: asOf, isClaimed: true)
  }

  public init(orderID: String, of key: PurchaseKey, asOf: Timestamp) {
    self.init(.orderID, orderID, key.originalTransactionID, key.line, asOf: asOf, isClaimed: false)
  }

  /// Returns the token in lower case, since Apple writes UUIDs in either case.
  public static func normalized(accountToken: String) -> String { accountToken.lowercased() }

  static func all(of statement: PurchaseStatement) -> [Alias] {
    let (key, facts) = (statement.key, statement.facts)
    var aliases: [Alias] = []
    func add(_ kind: Kind, _ field: PurchaseField, line: Line) {
      guard let id = facts.text(field), id != "", id != "0" else { return }
      aliases.append(
        Alias(
          kind, id, key.originalTransactionID, line, asOf: statement.rank.asOf, isClaimed: !statement.source.isSigned))
    }
    add(.transactionID, .transactionId, line: key.line)
    add(.webOrderLineItemID, .webOrderLineItemId, line: key.line)
    add(.appTransactionID, .appTransactionId, line: Line(text: ""))
    add(.appAccountToken, .appAccountToken, line: Line(text: ""))
    return aliases
  }

  static func all(of statement: RenewalStatement) -> [Alias] {
    var aliases: [Alias] = []
    func add(_ kind: Kind, _ field: RenewalField) {
      guard let id = statement.facts.text(field), id != "", id != "0" else { return }
      aliases.append(
        Alias(
          kind, id, statement.key.originalTransactionID, Line(text: ""), asOf: statement.rank.asOf,
          isClaimed: !statement.source.isSigned))
    }
    add(.appTransactionID, .appTransactionId)
    add(.appAccountToken, .appAccountToken)
    return aliases
  }
}
