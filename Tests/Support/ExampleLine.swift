import JSON
import Purchases
import Time

/// A line of an example that says something: `SOURCE AS-OF WHAT …`, `link A B` or `lookup SINCE`.
struct ExampleLine {
  var findings = Findings(app: ModelExample.app, environment: .production)
  /// For a line that says that a look-up is open.
  private(set) var lookUp: PendingLookup?

  private let number: Int
  private var message: [UInt8] { .init(repeating: UInt8(truncatingIfNeeded: number), count: 32) }

  init(_ words: [String], number: Int) throws {
    self.number = number
    if words.first == "link", words.count == 3 {
      findings.links = [link(words[1], words[2])]
      return
    }
    if words.first == "lookup", words.count == 2 {
      lookUp = PendingLookup(since: try Self.instant(words[1]), because: .period, message: message, failure: nil)
      return
    }
    guard words.count >= 3, let source = Source.allCases.first(where: { $0.name == words[0] }) else {
      throw Self.unreadable(words)
    }
    // 99@30: it claims to be of 99 and came at 30.
    let dates = try words[1].split(separator: "@").map { try Self.instant(String($0)) }
    let asOf = dates.count == 2 ? source.asOf(dates[0], receivedAt: dates[1]) : dates[0]
    let rank = Rank(asOf: asOf, tieBreak: .init(repeating: UInt8(truncatingIfNeeded: number), count: 16))
    let rest = Array(words.dropFirst(3))
    switch words[2] {
    case "renewal":
      findings.renewals = [
        RenewalStatement(
          key: SubscriptionKey(app: ModelExample.app, environment: .production, originalTransactionID: "1"),
          source: source, rank: rank, facts: try Self.facts(rest), message: message)
      ]
    case "event": findings.events = [try event(rest, source, rank)]
    case "user":
      guard rest.count == 2 else { throw Self.unreadable(words) }
      findings.userIDs = [
        AccountAssociation(
          .userID, rest[1], of: rest[0], from: asOf, to: asOf, message: message, isClaimed: !source.isSigned)
      ]
    default:
      let key = Self.key(words[2])
      var facts: Facts<PurchaseField> = try Self.facts(rest)
      facts.set(.originalTransactionId, .string(key.originalTransactionID))
      findings.purchases = [
        PurchaseStatement(key: key, source: source, rank: rank, facts: facts, message: message)
      ]
    }
  }

  /// `10`, or `2/10` below another originalTransactionId than 1; `-` for no line.
  static func key(_ word: String) -> PurchaseKey {
    let parts = word.split(separator: "/").map(String.init)
    let line = parts.last == "-" ? "" : parts.last ?? ""
    return PurchaseKey(
      app: ModelExample.app, environment: .production, originalTransactionID: parts.count == 2 ? parts[0] : "1",
      line: Line(text: line))
  }

  /// Seconds, with up to three digits behind the point.
  static func instant(_ word: String) throws -> Timestamp {
    guard let seconds = Double(word) else { throw unreadable([word]) }
    return Timestamp(Int64((seconds * 1_000).rounded()))
  }

  static func unreadable(_ words: [String]) -> ModelExample.Malformed {
    ModelExample.Malformed(description: "cannot read: \(words.joined(separator: " "))")
  }

  /// `field=value`, or `~field=value` for what is inferred.
  private static func facts<Field: FactField>(_ words: [String]) throws -> Facts<Field> {
    var facts = Facts<Field>()
    for word in words {
      let parts = word.drop { $0 == "~" }.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, let field = Field(name: parts[0]) else { throw unreadable([word]) }
      let value: JSONValue =
        switch field.kind {
        case .text: .string(parts[1])
        case .date: .integer(try instant(parts[1]).sinceEpoch)
        case .flag: .bool(parts[1] == "true")
        case .integer, .structure: try JSONReader.read(Array(parts[1].utf8))
        }
      let isTaken = word.hasPrefix("~") ? facts.infer(field, value) : facts.set(field, value)
      guard isTaken else { throw unreadable([word]) }
    }
    return facts
  }

  /// `TYPE/SUBTYPE LINE DATE [UUID]`.
  private func event(_ words: [String], _ source: Source, _ rank: Rank) throws -> Event {
    guard (3...4).contains(words.count) else { throw Self.unreadable(words) }
    let name = words[0].split(separator: "/").map(String.init)
    let key = Self.key(words[1])
    return Event(
      app: ModelExample.app, environment: .production, notificationUUID: words.count == 4 ? words[3] : nil,
      notificationType: name[0], subtype: name.count == 2 ? name[1] : nil,
      originalTransactionID: key.originalTransactionID, transactionID: nil,
      line: words[1] == "-" ? nil : key.line, date: try Self.instant(words[2]), source: source, rank: rank,
      details: [:], message: message, rule: nil)
  }

  private func link(_ a: String, _ b: String) -> CustomerLink {
    CustomerLink(
      app: ModelExample.app, environment: .production, .originalTransactionID(a), .originalTransactionID(b))
  }
}
