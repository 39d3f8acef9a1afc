import JSON
public import Time

/// One source's statement about one key at one time.
///
/// Only the latest of each source and the latest with a mark are kept, unchanged.
public struct Statement<Key: Hashable & Sendable, Field: FactField>: Hashable, Sendable {
  public var key: Key
  public var source: Source
  public var rank: Rank
  public var facts: Facts<Field>
  /// The SHA-256 of the message's body, which finds it in the inbox.
  public var message: [UInt8]

  public init(key: Key, source: Source, rank: Rank, facts: Facts<Field>, message: [UInt8]) {
    self.key = key
    self.source = source
    self.rank = rank
    self.facts = facts
    self.message = message
  }

  /// The marks that it sets.
  ///
  /// A later statement of its source keeps them unless it sets them too.
  public var marks: [Field] { source.speaksByAbsence ? [] : Field.marks.filter { facts[$0] != nil } }

  private struct Voice: Hashable {
    var key: Key
    var source: Source
  }

  /// Returns each source's latest statement about each key, and the latest with each mark, in the order of first
  /// appearance.
  public static func latest(of statements: [Self]) -> [Self] {
    if statements.count < 2 { return statements }
    var places: [Voice: Int] = [:]
    places.reserveCapacity(statements.count)
    var kept: [Self] = []
    kept.reserveCapacity(statements.count)
    var marking: [Int: [Field: Self]] = [:]
    for statement in statements {
      let voice = Voice(key: statement.key, source: statement.source)
      let place = places[voice] ?? kept.count
      if place == kept.count {
        places[voice] = place
        kept.append(statement)
      } else if kept[place].isOutranked(by: statement) {
        kept[place] = statement
      }
      for mark in statement.marks where marking[place]?[mark]?.isOutranked(by: statement) ?? true {
        marking[place, default: [:]][mark] = statement
      }
    }
    for (place, marks) in marking.sorted(by: { $0.key < $1.key }) {
      var others: [Self] = []
      for statement in marks.values where statement != kept[place] && !others.contains(statement) {
        others.append(statement)
      }
      kept += others
    }
    return kept
  }

  /// Compares by authority, rank and contents: a total order, independent of the order of arrival.
  ///
  /// One payload in two messages has one rank, and one message may contain a statement twice.
  func isOutranked(by other: Self) -> Bool {
    if source != other.source { return source < other.source }
    if rank != other.rank { return rank < other.rank }
    if message != other.message { return message.lexicographicallyPrecedes(other.message) }
    if facts == other.facts { return false }
    return facts.encoded().lexicographicallyPrecedes(other.facts.encoded())
  }
}

public typealias PurchaseStatement = Statement<PurchaseKey, PurchaseField>
public typealias RenewalStatement = Statement<SubscriptionKey, RenewalField>

/// The order of two statements of one source, independent of the order of arrival.
public struct Rank: Hashable, Sendable, Comparable {
  /// The payload's own signedDate, never the time of arrival.
  public var asOf: Timestamp
  /// Bytes of digests of the contents, which order statements of one millisecond in the same way everywhere.
  public var tieBreak: [UInt8]

  public init(asOf: Timestamp, tieBreak: [UInt8]) {
    self.asOf = asOf
    self.tieBreak = tieBreak
  }

  public static func < (a: Self, b: Self) -> Bool {
    a.asOf != b.asOf ? a.asOf < b.asOf : a.tieBreak.lexicographicallyPrecedes(b.tieBreak)
  }
}
