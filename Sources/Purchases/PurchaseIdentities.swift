import Time

/// The keys that represent one purchase although they are written differently.
///
/// Messages before Apple names a line lack one or have a derived one. As separate purchases, a refund of the named line
/// would leave access by the other. Keys of one originalTransactionId belong together if they share a transaction ID or
/// the second of purchase. Receipts have no milliseconds, and a restore changes the transaction ID but not the period.
struct PurchaseIdentities {
  private var canonical: [PurchaseKey: PurchaseKey] = [:]
  /// The key that earlier rounds gave each mark.
  private var placed: [Mark: PurchaseKey] = [:]

  init(_ statements: [PurchaseStatement]) {
    if statements.allSatisfy(\.key.line.isNamed) { return }
    let statements = Self.ambiguous(statements)
    if statements.isEmpty { return }
    // Signed statements are joined first. A claim may name a signed purchase without a named line, but never joins two
    // signed ones.
    join(statements.filter(\.source.isSigned))
    let claimed = statements.filter(\.source.isClaimed)
    var known = Set(statements.filter(\.source.isSigned).map(\.key))
    nameSigned(known, by: claimed)
    join(claimed.filter { $0.key.line.isNamed || !known.contains($0.key) })
    // Unverified statements come last: they find their purchase and rename no other. A stranger's invented line must
    // not attract a later refund of the true line.
    known.formUnion(claimed.map(\.key))
    join(statements.filter { $0.source == .unverifiedReceipt && !known.contains($0.key) })
  }

  /// Returns the statements of originalTransactionIds with several lines.
  ///
  /// A single line needs no work.
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

  /// Gives signed purchases without a named line the better keys of claims, in a one-to-one relation.
  private mutating func nameSigned(_ signed: Set<PurchaseKey>, by claimed: [PurchaseStatement]) {
    if placed.isEmpty || claimed.isEmpty { return }
    var components = DisjointSets<PurchaseKey>()
    var byMark: [Mark: PurchaseKey] = [:]
    let marks = claimed.flatMap { statement in Self.marks(of: statement).map { (mark: $0, key: statement.key) } }
    for (mark, key) in marks where !key.line.isNamed {
      if let other = byMark[mark] { components.join(key, other) } else { byMark[mark] = key }
    }
    // For each purchase of the claims: their best key for it, and its possible signed purchases.
    var names: [PurchaseKey: PurchaseKey] = [:]
    var found: [PurchaseKey: Set<PurchaseKey>] = [:]
    for (mark, key) in marks {
      var labels = key.line.isNamed ? [key] : []
      if let unnamed = byMark[mark] { labels.append(components.label(of: unnamed)) }
      for label in labels {
        if !signed.contains(key) { names[label] = Self.better(names[label] ?? key, key) }
        if let place = placed[mark], !place.line.isNamed { found[label, default: []].insert(place) }
      }
    }
    var renamed: [PurchaseKey: PurchaseKey] = [:]
    var taken: Set<PurchaseKey> = []
    for (label, name) in names.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) where !taken.contains(name) {
      let places = found[label]?.filter { renamed[$0] == nil && Self.better($0, name) == name }
      guard let place = places?.min() else { continue }
      renamed[place] = name
      taken.insert(name)
    }
    for key in signed { if let name = renamed[self[key]] { canonical[key] = name } }
    for (mark, place) in placed { if let name = renamed[place] { placed[mark] = name } }
  }

  private mutating func join(_ statements: [PurchaseStatement]) {
    let marks = statements.flatMap { statement in Self.marks(of: statement).map { (mark: $0, key: statement.key) } }

    var named: [Mark: PurchaseKey] = [:]
    var firstUnnamed: [Mark: PurchaseKey] = [:]
    var components = DisjointSets<PurchaseKey>()
    for (mark, key) in marks {
      if key.line.isNamed {
        named[mark] = min(named[mark] ?? key, key)
      } else if let other = firstUnnamed[mark] {
        components.join(key, other)
      } else {
        firstUnnamed[mark] = key
      }
    }

    // Two named lines are never joined: marks of both go to the smaller.
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

  /// Returns the key that represents the purchase.
  subscript(key: PurchaseKey) -> PurchaseKey { canonical[key] ?? key }

  /// Returns a named line before a derived one, that before an empty one, and the smaller of equals.
  static func better(_ a: PurchaseKey, _ b: PurchaseKey) -> PurchaseKey {
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
    // "0" is Xcode's first transaction ID, and every one in its receipts.
    if let id = statement.facts.text(.transactionId), id != "", id != "0" { kinds.append(.transactionID(id)) }
    if let date = statement.facts.date(.purchaseDate) { kinds.append(.secondOfPurchase(date.wholeSeconds)) }
    let key = statement.key
    return kinds.map { kind in
      Mark(app: key.app, environment: key.environment, originalTransactionID: key.originalTransactionID, kind: kind)
    }
  }
}
