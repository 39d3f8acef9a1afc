import Time

/// Which keys mean one purchase although they are written differently.
///
/// A line that Apple named stands for itself. Until it is known, messages about the purchase have none, or one derived
/// here; were they left apart, a refund told of the named one would leave the other to grant access. They belong
/// together when below one originalTransactionId they share a transaction id, or the second of purchase (receipts tell
/// no milliseconds; a restore changes the transaction id, never the period).
struct PurchaseIdentities {
  private var canonical: [PurchaseKey: PurchaseKey] = [:]
  /// What earlier rounds made of whoever has a mark.
  private var placed: [Mark: PurchaseKey] = [:]

  init(_ statements: [PurchaseStatement]) {
    if statements.allSatisfy(\.key.line.isNamed) { return }
    let statements = Self.ambiguous(statements)
    if statements.isEmpty { return }
    let vouched = statements.filter { $0.source != .unverifiedReceipt }
    join(vouched)
    // What nobody vouches for comes last: it finds its place, and gives nobody else another. A line that a stranger made
    // up must not draw away what a later refund of the true line is about.
    let known = Set(vouched.map(\.key))
    join(statements.filter { $0.source == .unverifiedReceipt && !known.contains($0.key) })
  }

  /// Those below originalTransactionIds of which several lines are told: a purchase that is alone there is itself.
  private static func ambiguous(_ statements: [PurchaseStatement]) -> [PurchaseStatement] {
    var first: [SubscriptionKey: Line] = [:]
    var several: Set<SubscriptionKey> = []
    for statement in statements {
      let original = statement.key.subscription
      if let line = first[original] {
        if line != statement.key.line { several.insert(original) }
      } else {
        first[original] = statement.key.line
      }
    }
    return several.isEmpty ? [] : statements.filter { several.contains($0.key.subscription) }
  }

  private mutating func join(_ statements: [PurchaseStatement]) {
    let marks = statements.flatMap { statement in Self.marks(of: statement).map { (mark: $0, key: statement.key) } }

    var named: [Mark: PurchaseKey] = [:]
    var firstUnnamed: [Mark: PurchaseKey] = [:]
    var components = Components<PurchaseKey>()
    for (mark, key) in marks {
      if key.line.isNamed {
        named[mark] = min(named[mark] ?? key, key)
      } else if let other = firstUnnamed[mark] {
        components.join(key, other)
      } else {
        firstUnnamed[mark] = key
      }
    }

    // Two named lines are never joined: what lies between them goes to the smaller.
    var best: [PurchaseKey: PurchaseKey] = [:]
    for (mark, key) in marks where !key.line.isNamed {
      let label = components.label(of: key)
      for candidate in [key, named[mark], placed[mark]].compactMap({ $0 }) {
        best[label] = Self.better(best[label] ?? candidate, candidate)
      }
    }
    for (_, key) in marks where !key.line.isNamed { canonical[key] = best[components.label(of: key)] }
    for (mark, key) in marks { placed[mark] = Self.better(placed[mark] ?? self[key], self[key]) }
  }

  /// The key under which everything about the purchase is brought together.
  subscript(key: PurchaseKey) -> PurchaseKey { canonical[key] ?? key }

  /// A named line before a derived one, a derived one before none; of equals the smaller.
  private static func better(_ a: PurchaseKey, _ b: PurchaseKey) -> PurchaseKey {
    func rank(_ key: PurchaseKey) -> Int { key.line.isNamed ? 0 : key.line.text != "" ? 1 : 2 }
    return (rank(a), a) < (rank(b), b) ? a : b
  }

  private struct Mark: Hashable {
    enum Kind: Hashable {
      case transactionID(String)
      case secondOfPurchase(Int64)
    }

    let app: String, environment: Environment, originalTransactionID: String, kind: Kind
  }

  private static func marks(of statement: PurchaseStatement) -> [Mark] {
    var kinds: [Mark.Kind] = []
    // Xcode calls its first transaction, and in receipts every one, "0".
    if let id = statement.facts.text(.transactionId), id != "", id != "0" { kinds.append(.transactionID(id)) }
    if let date = statement.facts.date(.purchaseDate) { kinds.append(.secondOfPurchase(date.wholeSeconds)) }
    let key = statement.key
    return kinds.map { kind in
      Mark(app: key.app, environment: key.environment, originalTransactionID: key.originalTransactionID, kind: kind)
    }
  }
}
