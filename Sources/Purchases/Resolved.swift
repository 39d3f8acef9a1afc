import JSON
public import Time

/// What it means that a source leaves a field out, and whether a later value may differ.
public enum OmissionRule: String, Sendable, CaseIterable {
  /// Never changes; leaving it out says nothing.
  case immutable
  /// May change; leaving it out says nothing.
  case silent
  /// May change; a source that speaks by absence says "none" by leaving it out.
  case speaks
}

/// For each field what its absence means, and the row of `Mappings` that says so.
public struct FoldRules<Field: FactField>: Sendable {
  public struct Rule: Sendable {
    public let id: String
    public let absence: OmissionRule
    /// Sources that have no vote: unverified receipts on revocation, expiry and ownership.
    public let silenced: Set<Source>

    public init(id: String, absence: OmissionRule, silenced: Set<Source>) {
      self.id = id
      self.absence = absence
      self.silenced = silenced
    }
  }

  private let rules: [Rule]
  /// The ids alone, which every fold by these rules shares.
  let ids: RuleIDs
  /// The sources that have a vote on every field.
  private let heardOnAll: Set<Source>

  /// Nil when a field has no rule.
  public init?(_ rules: [Field: Rule]) {
    let ordered = Field.allCases.compactMap { rules[$0] }
    guard ordered.count == Field.allCases.count else { return nil }
    self.rules = ordered
    ids = RuleIDs(ordered.map(\.id))
    heardOnAll = Set(Source.allCases.filter { source in ordered.allSatisfy { !$0.silenced.contains(source) } })
  }

  public subscript(field: Field) -> Rule { rules[field.rawValue] }

  /// Whether `source` has a vote on every field.
  func hearsAll(from source: Source) -> Bool { heardOnAll.contains(source) }
}

/// The ids of the rules of all fields, by the fields' numbers: one array for all that is folded by them.
struct RuleIDs: Hashable, Sendable {
  private let ids: [String]

  init(_ ids: [String]) { self.ids = ids }

  subscript(place: Int) -> String { ids[place] }

  // Two folds by the same rules share the array: it is compared and hashed for its length alone where it is one.
  func hash(into hasher: inout Hasher) { hasher.combine(ids.count) }
}

/// What is true according to all sources together, each field with where it comes from.
///
/// A pure function of the latest statements of each source: order, repetition and earlier ones change nothing.
public struct Resolved<Field: FactField>: Hashable, Sendable {
  public private(set) var facts = Facts<Field>()
  public private(set) var origins: FieldOrigins<Field>
  /// The latest time any source spoke.
  public let asOf: Timestamp
  /// Whether nobody but sources that Apple signed speaks.
  private(set) var isSigned: Bool
  /// The fold of the signed statements when there are others too: one or none, for a struct cannot hold itself.
  private var signedPart: [Self] = []

  /// What the sources that Apple signed say by themselves; nil when there is none.
  public var signed: Self? { isSigned ? self : signedPart.first }

  /// Nil when there is no statement.
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
      // What most purchases are: one source alone, and all that it says counts.
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

  /// The same with `value` supposed of a field that nobody states: of the whole by what `whole` tells, of the signed
  /// statements alone by what `ofSigned` tells; nil supposes nothing.
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
