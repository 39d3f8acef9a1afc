public import JSON
public import Time

/// What the fold makes of one source's word about one field.
public enum Verdict: String, Hashable, Sendable, CaseIterable {
  /// It is the value.
  case counts
  /// A higher authority, or a later statement of the same, has a value of the same kind.
  case outranked
  /// It is inferred, and somebody stated the field.
  case givesWay
  /// A signed payload that is not earlier says "none" by leaving the field out.
  case silenced
  /// The source is not asked about the field.
  case noVote
}

/// One source's word about one field, and what the fold makes of it.
public struct Testimony<Field: FactField>: Hashable, Sendable {
  public let field: Field
  public let value: JSONValue
  public let source: Source
  public let asOf: Milliseconds
  /// The SHA-256 of the message's body.
  public let message: [UInt8]
  public let isInferred: Bool
  /// All that the source said with it.
  public let facts: Facts<Field>
  public let verdict: Verdict

  /// What each of `statements` says about `field`, by authority; at most one counts, and it is what `Folded` chooses.
  public static func all<Key>(
    about field: Field, in statements: [Statement<Key, Field>], rules: FoldRules<Field>
  ) -> [Testimony] {
    var hearing = Hearing(field, rules)
    var heard: [(statement: Statement<Key, Field>, value: JSONValue, against: Verdict?)] = []
    for statement in Statement.latest(of: statements).sorted(by: { $1.isOutranked(by: $0) }) {
      let objection = hearing.objection(to: statement)
      if let value = statement.facts[field] { heard.append((statement, value, objection)) }
    }
    let voting = heard.indices.filter { heard[$0].against == nil }
    let chosen = voting.first { !heard[$0].statement.facts.isInferred(field) } ?? voting.first
    let isStated = chosen.map { !heard[$0].statement.facts.isInferred(field) } ?? false
    return heard.enumerated().map { place, word in
      let isInferred = word.statement.facts.isInferred(field)
      let verdict = word.against ?? (place == chosen ? .counts : isInferred && isStated ? .givesWay : .outranked)
      return Testimony(
        field: field, value: word.value, source: word.statement.source, asOf: word.statement.rank.asOf,
        message: word.statement.message, isInferred: isInferred, facts: word.statement.facts, verdict: verdict)
    }
  }
}
