public import JSON
public import Time

/// Whether a statement about a field counts, and why not.
public enum Outcome: String, Hashable, Sendable, CaseIterable {
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

/// What one source says about one field, and whether it counts.
public struct FieldStatement<Field: FactField>: Hashable, Sendable {
  public let value: JSONValue
  public let source: Source
  public let asOf: Timestamp
  /// The SHA-256 of the message's body.
  public let message: [UInt8]
  public let isInferred: Bool
  /// All that the source said with it.
  public let facts: Facts<Field>
  public let verdict: Outcome

  /// The statements that have a value for `field`, by authority, of which at most one counts.
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
