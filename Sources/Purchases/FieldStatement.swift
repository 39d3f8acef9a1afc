public import JSON
public import Time

/// The outcome of a statement about a field.
public enum Outcome: String, Hashable, Sendable, CaseIterable {
  case counts
  /// A higher authority, or a later statement of the same source, has a value of the same kind.
  case outranked
  /// It is inferred, and another source states the field.
  case givesWay
  /// A signed payload that is not earlier omits the field, which clears it.
  case silenced
  /// The source does not vote on the field.
  case noVote
}

/// A source's statement about one field, with its outcome.
public struct FieldStatement<Field: FactField>: Hashable, Sendable {
  public let value: JSONValue
  public let source: Source
  public let asOf: Timestamp
  public let message: [UInt8]
  public let isInferred: Bool
  public let facts: Facts<Field>
  public let verdict: Outcome

  /// Returns the statements with a value for `field`, by authority.
  ///
  /// At most one counts.
  public static func all<Key>(
    about field: Field, in statements: [Statement<Key, Field>], rules: FoldRules<Field>
  ) -> [Self] {
    let byAuthority = Statement.latest(of: statements).sorted { $1.isOutranked(by: $0) }
    let resolution = FieldResolution(field, in: byAuthority, rules: rules)
    let verdicts = resolution.others + (resolution.chosen.map { [(place: $0, verdict: .counts)] } ?? [])
    return verdicts.sorted { $0.place < $1.place }.compactMap { place, verdict in
      let statement = byAuthority[place]
      return statement.facts[field].map { value in
        Self(
          value: value, source: statement.source, asOf: statement.rank.asOf, message: statement.message,
          isInferred: statement.facts.isInferred(field), facts: statement.facts, verdict: verdict)
      }
    }
  }
}
