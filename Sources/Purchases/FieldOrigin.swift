public import Time

/// Where the value of a field comes from.
public struct FieldOrigin: Hashable, Sendable {
  public let source: Source
  public let asOf: Timestamp
  /// The SHA-256 of the message's body.
  public let message: [UInt8]
  /// The row of `Mappings` that chose it.
  public let rule: String
  /// Whether nobody stated it: it follows from what `source` stated.
  public let isInferred: Bool
}

/// Where the values of a fold come from, field by field.
///
/// A few statements stand behind all fields: each is kept once, and each field keeps the number of its own.
public struct FieldOrigins<Field: FactField>: Hashable, Sendable {
  private struct Voice: Hashable, Sendable {
    let source: Source
    let asOf: Timestamp
    let message: [UInt8]
    let isInferred: Bool
  }

  private static var none: UInt8 { .max }

  private var voices: [Voice] = []
  /// For each field the place of its voice.
  private var places: [UInt8]
  private let rules: RuleIDs

  init(_ rules: RuleIDs) {
    places = [UInt8](repeating: Self.none, count: Field.names.count)
    self.rules = rules
  }

  /// Where the value of `field` comes from; nil when it has none.
  public subscript(field: Field) -> FieldOrigin? {
    let place = places[field.rawValue]
    guard place != Self.none else { return nil }
    let voice = voices[Int(place)]
    return FieldOrigin(
      source: voice.source, asOf: voice.asOf, message: voice.message, rule: rules[field.rawValue],
      isInferred: voice.isInferred)
  }

  /// As of when an unsigned source with a vote last spoke, of those behind the fields; nil when there is none.
  var claimedAsOf: Timestamp? { voices.filter(\.source.isClaimed).map(\.asOf).max() }

  /// How many fields have a value.
  public var count: Int { places.count { $0 != Self.none } }

  mutating func note(
    _ field: Field, _ source: Source, asOf: Timestamp, message: [UInt8], isInferred: Bool
  ) {
    let voice = Voice(source: source, asOf: asOf, message: message, isInferred: isInferred)
    // No more than there are fields: a number of eight bits is enough.
    let place = voices.lastIndex(of: voice) ?? voices.count
    if place == voices.count { voices.append(voice) }
    places[field.rawValue] = UInt8(place)
  }
}
