import JSON

/// What Apple documents of a structure: its fields, their types and the values of its enumerations.
public struct Schema: Sendable {
  public indirect enum Kind: Sendable {
    case text
    case integer
    case flag
    /// Milliseconds since 1970; fractions occur in Xcode's data.
    case date
    case texts
    /// One of these, when Apple keeps to what it documented.
    case word(Set<String>)
    case code(ClosedRange<Int64>)
    case structure(Schema)
    /// An object that this build does not read.
    case opaque
    case structures(Schema)
    /// A list, or one object in its place: V1 bodies that went through many hands have either where Apple has the other.
    case rows(Schema)
    /// Of the old generation, which writes one value in several ways.
    case loose(LooseValue)
  }

  /// What V1 means by a value, however it writes it.
  public enum LooseValue: Sendable {
    /// Text, or a whole number that stands for its digits.
    case text
    /// A whole number, or its digits as text.
    case integer
    /// True or false, 1 or 0, as themselves or as text.
    case flag
    /// Milliseconds as a number or its digits, or one of Apple's written dates.
    case date
    /// One of these, in whichever way it is written.
    case word(Set<String>)
    case code(ClosedRange<Int64>)
  }

  public let fields: [String: Kind]
  private let names: KnownKeys
  /// Of each of the names.
  private let kinds: [Kind]

  init(_ fields: [String: Kind]) {
    self.fields = fields
    names = KnownKeys(Array(fields.keys))
    kinds = Array(fields.values)
  }

  func survey(_ object: JSONObject, path: String, into survey: inout UndocumentedContent) {
    self.survey(object, path: path, into: &survey) { key, _ in kind(of: key) }
  }

  private func kind(of key: String) -> Kind? { names.place(of: key).map { kinds[$0] } }

  private func survey(
    _ object: JSONObject, path: String, into survey: inout UndocumentedContent,
    _ kind: (_ key: String, _ place: Int) -> Kind?
  ) {
    let members = object.members
    for place in members.indices {
      let (key, value) = (members[place].key, members[place].value)
      guard let kind = kind(key, place) else {
        survey.unknownFields.append(path + key)
        continue
      }
      if !kind.accepts(value) {
        survey.unusableFields.append(path + key)
      } else if !kind.documents(value) {
        survey.unknownValues.append("\(path)\(key)=\((value.looseText ?? "").prefix(64))")
      }
      switch kind {
      case .structure(let schema):
        if let inner = value.object { schema.survey(inner, path: "\(path)\(key).", into: &survey) }
      case .rows(let schema) where value.object != nil:
        if let inner = value.object { schema.survey(inner, path: "\(path)\(key).", into: &survey) }
      case .structures(let schema), .rows(let schema):
        let path = "\(path)\(key)[]."
        var known = KeyMemory<Kind>()
        for inner in value.array ?? [] {
          guard let inner = inner.object else { continue }
          schema.survey(inner, path: path, into: &survey) { key, place in
            known.meaning(of: key, at: place, search: schema.kind)
          }
        }
      case .text, .integer, .flag, .date, .texts, .word, .code, .opaque, .loose: break
      }
    }
  }
}

extension Schema.Kind {
  /// Whether `value` is of this type; null is as good as absent.
  func accepts(_ value: JSONValue) -> Bool {
    if value.isNull { return true }
    return switch self {
    case .text, .word: value.string != nil
    case .integer, .code: value.integer != nil
    case .flag: value.bool != nil
    case .date: value.milliseconds != nil
    case .texts: value.array?.allSatisfy { $0.string != nil } ?? false
    case .structure, .opaque: value.object != nil
    case .structures: value.array?.allSatisfy { $0.object != nil } ?? false
    case .rows: value.object != nil || value.array?.allSatisfy { $0.object != nil } ?? false
    case .loose(let loose): loose.accepts(value)
    }
  }

  /// Whether an accepted value is one of the documented ones.
  func documents(_ value: JSONValue) -> Bool {
    switch self {
    case .word(let words): value.string.map(words.contains) ?? true
    case .code(let codes): value.integer.map(codes.contains) ?? true
    case .loose(.word(let words)): value.looseText.map(words.contains) ?? true
    case .loose(.code(let codes)): value.looseInteger.map(codes.contains) ?? true
    case .text, .integer, .flag, .date, .texts, .structure, .opaque, .structures, .rows, .loose: true
    }
  }
}

extension Schema.LooseValue {
  fileprivate func accepts(_ value: JSONValue) -> Bool {
    switch self {
    case .text, .word: value.looseText != nil
    case .integer, .code: value.looseInteger != nil
    case .flag: value.looseFlag != nil
    case .date: value.looseDate != nil
    }
  }
}
