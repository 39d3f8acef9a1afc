/// A documented field: its name on the wire, a value of its type, and where the decoded structure shows it.
struct Field<Structure: Payload> {
  let name: String
  let sample: JSONValue
  let read: (Structure) -> JSONValue?
}

func text<P>(_ name: String, _ path: KeyPath<P, String?>, _ sample: String = "text") -> Field<P> {
  Field(name: name, sample: .string(sample)) { $0[keyPath: path].map(JSONValue.string) }
}

func integer<P>(_ name: String, _ path: KeyPath<P, Int64?>, _ sample: Int64 = 9_007_199_254_740_993) -> Field<P> {
  Field(name: name, sample: .integer(sample)) { $0[keyPath: path].map(JSONValue.integer) }
}

func flag<P>(_ name: String, _ path: KeyPath<P, Bool?>) -> Field<P> {
  Field(name: name, sample: true) { $0[keyPath: path].map(JSONValue.bool) }
}

func date<P>(_ name: String, _ path: KeyPath<P, Timestamp?>) -> Field<P> {
  Field(name: name, sample: -62_135_769_600_000) { $0[keyPath: path].map { .integer($0.sinceEpoch) } }
}

func texts<P>(_ name: String, _ path: KeyPath<P, [String]?>) -> Field<P> {
  Field(name: name, sample: ["a", "b"]) { $0[keyPath: path].map { .array($0.map(JSONValue.string)) } }
}

func structure<P, Inner: Payload>(_ name: String, _ path: KeyPath<P, Inner?>) -> Field<P> {
  Field(name: name, sample: [:]) { $0[keyPath: path].map { .object($0.json) } }
}

func opaque<P>(_ name: String, _ path: KeyPath<P, JSONObject?>) -> Field<P> {
  Field(name: name, sample: [:]) { $0[keyPath: path].map(JSONValue.object) }
}

func structures<P, Inner: Payload>(_ name: String, _ path: KeyPath<P, [Inner]?>) -> Field<P> {
  Field(name: name, sample: [[:]]) { $0[keyPath: path].map { .array($0.map { .object($0.json) }) } }
}

/// Holds the structure to the documented fields: each is in the schema and shown, wrong values are counted and not shown.
func check<P: Payload>(_: P.Type, _ fields: Field<P>..., sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(Set(P.schema.fields.keys) == Set(fields.map(\.name)), sourceLocation: sourceLocation)
  #expect(fields.count == P.schema.fields.count, sourceLocation: sourceLocation)

  let whole = P(JSONObject(fields.map { ($0.name, $0.sample) }))
  #expect(whole.survey().isClean, "\(whole.survey())", sourceLocation: sourceLocation)
  for field in fields {
    #expect(field.read(whole) == field.sample, "\(field.name)", sourceLocation: sourceLocation)
    #expect(field.read(P([:])) == nil, "\(field.name)", sourceLocation: sourceLocation)

    let null = P([field.name: .null])
    #expect(field.read(null) == nil, "\(field.name)", sourceLocation: sourceLocation)
    #expect(null.survey().isClean, "\(field.name)", sourceLocation: sourceLocation)

    for wrong in [JSONValue.bool(true), "text", 1, [:], [1]] where !wrong.hasType(of: field.sample) {
      let broken = P([field.name: wrong])
      #expect(broken.survey().unusableFields == [field.name], "\(field.name): \(wrong)", sourceLocation: sourceLocation)
      #expect(broken.json[field.name] == wrong, sourceLocation: sourceLocation)
    }
  }
}

extension JSONValue {
  fileprivate func hasType(of other: JSONValue) -> Bool {
    switch (self, other) {
    case (.null, .null), (.bool, .bool), (.integer, .integer), (.number, .number), (.string, .string),
      (.object, .object):
      true
    case (.null, _), (.bool, _), (.integer, _), (.number, _), (.string, _), (.array, _), (.object, _): false
    }
  }
}
