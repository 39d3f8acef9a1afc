public import Time

/// What one source said about one thing at one time; the latest of each source is kept, none is changed.
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
}

public typealias PurchaseStatement = Statement<PurchaseKey, PurchaseField>
public typealias RenewalStatement = Statement<SubscriptionKey, RenewalField>

/// Which of two statements of one source is the later one, whatever the order of arrival.
public struct Rank: Hashable, Sendable, Comparable {
  /// When it was true: the payload's own signedDate, never the time of arrival.
  public var asOf: Milliseconds
  /// The first 16 bytes of the payload's SHA-256: decides between statements of one millisecond.
  public var tieBreak: [UInt8]

  public init(asOf: Milliseconds, tieBreak: [UInt8]) {
    self.asOf = asOf
    self.tieBreak = tieBreak
  }

  public static func < (a: Self, b: Self) -> Bool {
    a.asOf != b.asOf ? a.asOf < b.asOf : a.tieBreak.lexicographicallyPrecedes(b.tieBreak)
  }
}
