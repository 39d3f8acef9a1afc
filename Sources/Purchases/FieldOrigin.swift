public import Time

public struct FieldOrigin: Hashable, Sendable {
  public let source: Source
  public let asOf: Timestamp
  public let message: [UInt8]
  /// The row of `Mappings` that chose it.
  public let rule: String
  /// Whether the value follows from other values of `source`.
  public let isInferred: Bool
}

/// The origins of resolved values, by field.
///
/// Few statements give all values: each is stored once, and each field has the number of its statement.
public struct FieldOrigins<Field: FactField>: Hashable, Sendable {
  private struct Voice: Hashable, Sendable {
    let source: Source
    let asOf: Timestamp
    let message: [UInt8]
    let isInferred: Bool
  }

  private static var none: UInt8 { .max }

  private var voices: [Voice] = []
  /// The number of each field's statement.
  private var places: [UInt8]
  private let rules: RuleIDs

  init(_ rules: RuleIDs) {
    places = [UInt8](repeating: Self.none, count: Field.names.count)
    self.rules = rules
  }

  /// Returns the origin of the field's value, or `nil` without a value.
  public subscript(field: Field) -> FieldOrigin? {
    let place = places[field.rawValue]
    guard place != Self.none else { return nil }
    let voice = voices[Int(place)]
    return FieldOrigin(
      source: voice.source, asOf: voice.asOf, message: voice.message, rule: rules[field.rawValue],
      isInferred: voice.isInferred)
  }

  /// The latest time of an unsigned voting source among the origins, or `nil`.
  var claimedAsOf: Timestamp? { voices.filter(\.source.isClaimed).map(\.asOf).max() }

  public var count: Int { places.count { $0 != Self.none } }

  mutating func note(
    _ field: Field, _ source: Source, asOf: Timestamp, message: [UInt8], isInferred: Bool
  ) {
    let voice = Voice(source: source, asOf: asOf, message: message, isInferred: isInferred)
    // There are at most as many as fields, so eight bits suffice.
    let place = voices.lastIndex(of: voice) ?? voices.count
    if place == voices.count { voices.append(voice) }
    places[field.rawValue] = UInt8(place)
  }
}
