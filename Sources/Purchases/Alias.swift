public import Time

/// An id by which somebody may ask for a purchase, other than its originalTransactionId.
public struct Alias: Hashable, Sendable {
  public enum Kind: Int, Hashable, Sendable, CaseIterable {
    case transactionID = 1
    case webOrderLineItemID = 2
    case appTransactionID = 3
    /// The account that the app gave when it was bought: shared accounts exist, so it may find several customers.
    case appAccountToken = 4
    /// The id on the customer's invoice, of an order that Apple was asked about.
    case orderID = 5

    public var name: String { "\(self)" }
  }

  public var kind: Kind
  public var id: String
  public var originalTransactionID: String
  /// Empty for what is said of the whole subscription.
  public var line: Line
  public var asOf: Timestamp
  /// Whether only an unsigned message gives the purchase this id.
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

  /// Another transaction id of `key`, as an unsigned body says: V1 makes a new one with every restore.
  public init(transactionID: String, of key: PurchaseKey, asOf: Timestamp) {
    self.init(.transactionID, transactionID, key.originalTransactionID, key.line, asOf: asOf, isClaimed: true)
  }

  /// The order in which `key` was bought, as Apple answered when it was asked about the order.
  public init(orderID: String, of key: PurchaseKey, asOf: Timestamp) {
    self.init(.orderID, orderID, key.originalTransactionID, key.line, asOf: asOf, isClaimed: false)
  }

  /// Apple writes UUIDs in either case; they are compared in lower case.
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
