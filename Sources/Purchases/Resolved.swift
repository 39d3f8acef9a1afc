import JSON
public import Time

/// The meaning of an omitted field, and whether a later value may differ.
public enum OmissionRule: String, Sendable, CaseIterable {
  /// Never changes.
  ///
  /// An omission has no meaning.
  case immutable
  /// May change.
  ///
  /// An omission has no meaning.
  case silent
  /// May change.
  ///
  /// An omission by a source whose omissions have a meaning clears the field.
  case speaks
}

/// The omission rule of each field, with its row of `Mappings`.
public struct FoldRules<Field: FactField>: Sendable {
  public struct Rule: Sendable {
    public let id: String
    public let absence: OmissionRule
    /// Sources that do not vote: unverified receipts on revocation, expiry and ownership.
    public let silenced: Set<Source>

    public init(id: String, absence: OmissionRule, silenced: Set<Source>) {
      self.id = id
      self.absence = absence
      self.silenced = silenced
    }
  }

  private let rules: [Rule]
  let ids: RuleIDs
  /// The sources that vote on every field.
  private let heardOnAll: Set<Source>

  public init?(_ rules: [Field: Rule]) {
    let ordered = Field.allCases.compactMap { rules[$0] }
    guard ordered.count == Field.allCases.count else { return nil }
    self.rules = ordered
    ids = RuleIDs(ordered.map(\.id))
    heardOnAll = Set(Source.allCases.filter { source in ordered.allSatisfy { !$0.silenced.contains(source) } })
  }

  public subscript(field: Field) -> Rule { rules[field.rawValue] }

  /// Whether `source` votes on every field.
  func hearsAll(from source: Source) -> Bool { heardOnAll.contains(source) }
}

/// The rule IDs by field number, in one shared array.
struct RuleIDs: Hashable, Sendable {
  private let ids: [String]

  init(_ ids: [String]) { self.ids = ids }

  subscript(place: Int) -> String { ids[place] }

  // The array is mostly shared, so its length suffices for the hash.
  func hash(into hasher: inout Hasher) { hasher.combine(ids.count) }
}

/// The values by all sources together, each field with its origin.
///
/// A pure function of the latest statements of each source: order, repetition and earlier statements change nothing.
public struct Resolved<Field: FactField>: Hashable, Sendable {
  public private(set) var facts = Facts<Field>()
  public private(set) var origins: FieldOrigins<Field>
  /// The latest time of any source.
  public let asOf: Timestamp
  private(set) var isSigned: Bool
  /// The values by the signed statements if there are others too.
  ///
  /// An array of at most one, since a struct cannot contain itself.
  private var signedPart: [Self] = []

  /// The values by only the signed sources, or `nil` without any.
  public var signed: Self? { isSigned ? self : signedPart.first }

  /// Returns `nil` without statements.
  public init?<Key>(_ statements: [Statement<Key, Field>], rules: FoldRules<Field>) {
    let byAuthority = Statement.latest(of: statements).sorted { $1.isOutranked(by: $0) }
    self.init(byAuthority: byAuthority, rules)
    if !isSigned {
      let signed = byAuthority.filter(\.source.isSigned)
      signedPart = Self(byAuthority: signed, rules).map { [$0] } ?? []
    }
  }

  private init?<Key>(byAuthority: [Statement<Key, Field>], _ rules: FoldRules<Field>) {
    guard let latest = byAuthority.map(\.rank.asOf).max() else { return nil }
    asOf = latest
    isSigned = byAuthority.allSatisfy(\.source.isSigned)
    origins = FieldOrigins(rules.ids)
    if byAuthority.count == 1, rules.hearsAll(from: byAuthority[0].source) {
      // Most purchases have only one source, and all its values count.
      facts = byAuthority[0].facts
      for field in Field.allCases where facts[field] != nil { note(field, byAuthority[0]) }
      return
    }
    for field in Field.allCases {
      guard let chosen = FieldResolution(field, in: byAuthority, rules: rules).chosen,
        let value = byAuthority[chosen].facts[field]
      else { continue }
      let statement = byAuthority[chosen]
      if statement.facts.isInferred(field) { facts.infer(field, value) } else { facts.set(field, value) }
      note(field, statement)
    }
  }

  private mutating func note<Key>(_ field: Field, _ statement: Statement<Key, Field>) {
    origins.note(
      field, statement.source, asOf: statement.rank.asOf, message: statement.message,
      isInferred: statement.facts.isInferred(field))
  }

  /// Returns the values with `value` assumed for a field that no source states.
  ///
  /// `whole` is the origin of the assumption for all sources, `ofSigned` for only the signed ones. `nil` assumes no
  /// value.
  func supposing(
    _ field: Field, _ value: JSONValue, as whole: FieldOrigin?, ofSigned signedOne: FieldOrigin?
  ) -> Self {
    var result = self
    result.suppose(field, value, whole)
    guard var signed else { return result }
    signed.suppose(field, value, signedOne)
    result.isSigned = isSigned && whole == signedOne
    result.signedPart = result.isSigned ? [] : [signed]
    return result
  }

  private mutating func suppose(_ field: Field, _ value: JSONValue, _ reason: FieldOrigin?) {
    guard let reason, facts.infer(field, value) else { return }
    origins.note(field, reason.source, asOf: reason.asOf, message: reason.message, isInferred: true)
  }
}
