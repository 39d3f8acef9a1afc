import JSON
public import Time

/// What one source said about one thing at one time.
///
/// The latest of each source is kept, and the latest that set a mark; none is changed.
public struct Statement<Key: Hashable & Sendable, Field: FactField>: Hashable, Sendable {
  public var key: Key
  public var source: Source
  public var rank: Rank
  public var facts: Facts<Field>
  /// The message that carried it: the SHA-256 of its body, which finds it in the inbox.
  public var message: [UInt8]

  public init(key: Key, source: Source, rank: Rank, facts: Facts<Field>, message: [UInt8]) {
    self.key = key
    self.source = source
    self.rank = rank
    self.facts = facts
    self.message = message
  }

  /// The marks it sets, which a later statement of its source leaves standing unless it sets them too.
  public var marks: [Field] { source.speaksByAbsence ? [] : Field.marks.filter { facts[$0] != nil } }

  private struct Voice: Hashable {
    var key: Key
    var source: Source
  }

  /// Of each source the latest statement about each thing, and the latest that set each mark: all that need be kept, in
  /// the order in which each was spoken of first.
  public static func latest(of statements: [Self]) -> [Self] {
    if statements.count < 2 { return statements }
    var places: [Voice: Int] = [:]
    places.reserveCapacity(statements.count)
    var kept: [Self] = []
    kept.reserveCapacity(statements.count)
    // Few set a mark.
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

  /// By authority, then by rank, then by what is written: a total order, so that no order of arrival shows through.
  ///
  /// One payload in two messages has one rank, and one message may state a thing twice.
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

/// Which of two statements of one source is the later one, whatever the order of arrival.
public struct Rank: Hashable, Sendable, Comparable {
  /// When it was true: the payload's own signedDate, never the time of arrival.
  public var asOf: Timestamp
  /// Bytes of digests of what was said: decides between statements of one millisecond, the same way for everybody.
  public var tieBreak: [UInt8]

  public init(asOf: Timestamp, tieBreak: [UInt8]) {
    self.asOf = asOf
    self.tieBreak = tieBreak
  }

  public static func < (a: Self, b: Self) -> Bool {
    a.asOf != b.asOf ? a.asOf < b.asOf : a.tieBreak.lexicographicallyPrecedes(b.tieBreak)
  }
}
