package import JSON
package import LegacyAnswers
import Purchases
package import Time

/// What it would mean for a customer if an old client got our answer in place of Apple's.
package struct AccessImpact: Hashable, Sendable {
  /// One product of one purchase to which access would differ.
  package struct Part: Hashable, Sendable {
    package let originalTransactionID: String
    package let productID: String
    /// Until when Apple's answer gives access; nil: it gives none, the largest date: for ever.
    package let theirs: Timestamp?
    package let ours: Timestamp?
    /// Whether access, or how much of it was bought, would differ at this moment.
    package let isNow: Bool
    /// In thousandths of the currency; nil where the price is not known.
    package let price: Price?

    /// Whether the customer would have less than with Apple's answer.
    package var isLoss: Bool { ours ?? Timestamp(.min) < theirs ?? Timestamp(.min) }
  }

  package struct Price: Hashable, Sendable {
    package let currency: String
    /// In thousandths, as Apple states prices.
    package let milliunits: Int64
  }

  package let parts: [Part]
  /// When the answers were read.
  package let date: Timestamp

  /// Nil when a client would do the same with either answer.
  package init?(theirs: JSONObject, ours: JSONObject, facts: CustomerFacts, at now: Timestamp) {
    let (left, right) = (ClientAccess(theirs).held, ClientAccess(ours).held)
    let prices = Self.prices(of: facts)
    let now = now.cutToSecond
    var parts: [Part] = []
    for grant in Set(left.keys).union(right.keys) {
      // What is over gives no access, whenever it ended.
      func running(_ holding: ClientAccess.Holding?) -> ClientAccess.Holding? {
        holding.flatMap { $0.until > now ? $0 : nil }
      }
      let (a, b) = (running(left[grant]), running(right[grant]))
      guard a != b else { continue }
      parts.append(
        Part(
          originalTransactionID: grant.originalTransactionID, productID: grant.productID, theirs: a?.until,
          ours: b?.until, isNow: a == nil || b == nil || a?.quantity != b?.quantity, price: prices[grant]))
    }
    if parts.isEmpty, let one = ClientAccess.first(of: theirs), let other = ClientAccess.first(of: ours) {
      // The same rows in another order.
      let (a, b) = (one.until > now ? one.until : nil, other.until > now ? other.until : nil)
      if a != b {
        let grant = a == nil ? other.grant : one.grant
        parts.append(
          Part(
            originalTransactionID: grant.originalTransactionID, productID: grant.productID, theirs: a, ours: b,
            isNow: a == nil || b == nil, price: prices[grant]))
      }
    }
    guard !parts.isEmpty else { return nil }
    self.parts = parts.sorted { ($0.originalTransactionID, $0.productID) < ($1.originalTransactionID, $1.productID) }
    date = now
  }

  /// What the newest purchase of each product cost.
  private static func prices(of facts: CustomerFacts) -> [ClientAccess.Grant: Price] {
    var newest: [ClientAccess.Grant: (at: Timestamp, price: Price)] = [:]
    for transaction in facts.transactions.map(\.facts) {
      guard let original = transaction.text(.originalTransactionId), let product = transaction.text(.productId),
        let price = transaction.integer(.price), let currency = transaction.text(.currency)
      else { continue }
      let grant = ClientAccess.Grant(originalTransactionID: original, productID: product)
      let date = transaction.date(.purchaseDate) ?? Timestamp(.min)
      if date >= newest[grant]?.at ?? Timestamp(.min) {
        newest[grant] = (date, Price(currency: currency, milliunits: price))
      }
    }
    return newest.mapValues(\.price)
  }

  /// What is at stake by currency, in thousandths.
  package var money: [String: Int64] {
    parts.compactMap(\.price).reduce(into: [:]) { $0[$1.currency, default: 0] += $1.milliunits }
  }

  package var unknownPrices: Int { parts.count { $0.price == nil } }

  /// `seconds` is null where access would differ for ever.
  package var json: JSONObject {
    [
      "access": .bool(parts.contains(where: \.isNow)),
      "products": .array(
        parts.map { part in
          .object([
            "originalTransactionId": .string(part.originalTransactionID), "productId": .string(part.productID),
            "theirsUntil": Self.date(part.theirs), "oursUntil": Self.date(part.ours), "loses": .bool(part.isLoss),
            "now": .bool(part.isNow), "seconds": seconds(part),
          ])
        }),
      "money": .object(JSONObject(money.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })),
      "unknownPrices": .integer(Int64(unknownPrices)),
    ]
  }

  private static func date(_ date: Timestamp?) -> JSONValue {
    guard let date else { return .null }
    return date == Timestamp(.max) ? "forever" : .integer(date.sinceEpoch)
  }

  private func seconds(_ part: Part) -> JSONValue {
    let (a, b) = (part.theirs ?? date, part.ours ?? date)
    guard a != Timestamp(.max), b != Timestamp(.max) else { return .null }
    return .integer(abs((a - b).milliseconds) / 1_000)
  }
}
