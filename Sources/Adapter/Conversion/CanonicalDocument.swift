public import JSON
public import Mappings
import Purchases
import Signing
import Time
import Wire

/// The JSON of a conversion, whose keys are stable.
///
/// Facts are flat and have Apple's V2 names, as in the service's responses. `events`, `purchases` and `renewals` are
/// always present, `appTransactions` if there are some. Each element has `bundleId`, `environment`, `provenance`
/// (source, date and proof) and `rules`, the rows of `Mappings` that made it. Dates are milliseconds since 1970.
public struct CanonicalDocument {
  private let converted: ConversionResult
  private let vocabulary: Vocabulary

  public init(_ converted: ConversionResult, vocabulary: Vocabulary = .embedded) {
    self.converted = converted
    self.vocabulary = vocabulary
  }

  public var json: JSONObject {
    let findings = converted.findings
    let purchases = Purchase.fold(findings.purchases, rules: vocabulary.purchases.rules.hearingEveryone)
    let renewals = Dictionary(grouping: findings.renewals, by: \.key).sorted {
      $0.key.originalTransactionID < $1.key.originalTransactionID
    }
    let downloads = Dictionary(grouping: findings.appTransactions, by: \.key).sorted {
      $0.key.appTransactionID < $1.key.appTransactionID
    }
    var object: JSONObject = [
      "events": .array(Event.fold(findings.events).map { .object(describe($0)) }),
      "purchases": .array(
        purchases.map { purchase in
          .object(
            describe(purchase.resolved, vocabulary.purchases, vocabulary.rules, line: purchase.key.line))
        }),
      "renewals": .array(renewals.compactMap { describe($0.value, vocabulary.renewals, vocabulary.rules) }),
    ]
    if !downloads.isEmpty {
      object["appTransactions"] = .array(
        downloads.compactMap {
          describe($0.value, vocabulary.appTransactions) { field, _, _ in [vocabulary.appTransactions.rules[field].id] }
        })
    }
    if !converted.survey.isClean { object["survey"] = .object(survey) }
    return object
  }

  private func describe<Key, Field>(
    _ statements: [Statement<Key, Field>], _ table: FieldTable<Field>, _ rows: (Field, Facts<Field>, Source) -> [String]
  ) -> JSONValue? {
    Resolved(statements, rules: table.rules.hearingEveryone).map { .object(describe($0, table, rows)) }
  }

  private func describe<Field>(
    _ resolved: Resolved<Field>, _ table: FieldTable<Field>, _ rows: (Field, Facts<Field>, Source) -> [String],
    line: Line? = nil
  ) -> JSONObject {
    var object = whose
    var rules: Set<String> = []
    for field in Field.allCases {
      guard let value = resolved.facts[field], let origin = resolved.origins[field] else { continue }
      object[field.name] = value
      rules.formUnion(rows(field, resolved.facts, origin.source))
    }
    object["line"] = line.map { .string($0.text) }
    object["provenance"] = .object(provenance(resolved, table))
    object["rules"] = .array(rules.sorted().map(JSONValue.string))
    return object
  }

  private func describe(_ event: Event) -> JSONObject {
    var object = whose
    for member in event.json { object[member.key] = member.value }
    object["provenance"] = .object(provenance(event.source, event.rank.asOf, event.message))
    object["rules"] = .array(event.rule.map { [.string($0)] } ?? [])
    return object
  }

  /// Null means unknown.
  private var whose: JSONObject {
    let findings = converted.findings
    var object: JSONObject = [
      "bundleId": .string(findings.app), "environment": .string(findings.environment.rawValue),
    ]
    for name in converted.unknown { object[name] = .null }
    return object
  }

  private var survey: JSONObject {
    func list(_ words: [String]) -> JSONValue { .array(words.map(JSONValue.string)) }
    let survey = converted.survey
    return [
      "unknownFields": list(survey.unknownFields), "unusableFields": list(survey.unusableFields),
      "unknownValues": list(survey.unknownValues),
    ]
  }
}

// MARK: - Provenance

extension CanonicalDocument {
  private func provenance(
    _ source: Source, _ asOf: Timestamp, _ message: [UInt8], inferred: [String] = []
  ) -> JSONObject {
    func list(_ words: [String]) -> JSONValue? { words.isEmpty ? nil : .array(words.map(JSONValue.string)) }
    var object: JSONObject = [
      "source": .string(name(of: source)), "asOf": .integer(asOf.sinceEpoch),
      "trust": .string(converted.trust.rawValue), "message": .string(Digest(bytes: message)?.hex ?? ""),
      "inferred": .array(inferred.map(JSONValue.string)),
    ]
    object["given"] = list(converted.given)
    object["unconfirmed"] = list(converted.claimed)
    object["unknown"] = list(converted.unknown)
    return object
  }

  /// Returns the source with the highest authority; `fields` names those from another source.
  private func provenance<Field>(_ resolved: Resolved<Field>, _ table: FieldTable<Field>) -> JSONObject {
    let told = Field.allCases.compactMap { field in resolved.origins[field].map { (field: field, origin: $0) } }
    guard let chief = told.map(\.origin).max(by: { $0.source < $1.source }) else { return JSONObject() }
    var object = provenance(
      chief.source, chief.asOf, chief.message, inferred: told.filter(\.origin.isInferred).map(\.field.name))
    let others = told.filter { $0.origin.source != chief.source }
    if !others.isEmpty {
      object["fields"] = .object(
        JSONObject(
          others.map { field, origin in
            (
              field.name,
              ["source": .string(name(of: origin.source)), "asOf": .integer(origin.asOf.sinceEpoch)]
            )
          }))
    }
    let silenced = told.filter { table.rules[$0.field].silenced.contains($0.origin.source) }
    if !silenced.isEmpty { object["withoutVote"] = .array(silenced.map { .string($0.field.name) }) }
    return object
  }

  /// A V2 payload without its signature is not a signed source.
  private func name(of source: Source) -> String {
    converted.trust == .none && source == .signedV2 ? "unsignedV2" : source.name
  }
}

extension FoldRules {
  /// The rules for a single input: its content is shown even if it would not count among others.
  fileprivate var hearingEveryone: Self {
    let open = Dictionary(
      uniqueKeysWithValues: Field.allCases.map { field in
        (field, Rule(id: self[field].id, absence: self[field].absence, silenced: []))
      })
    return FoldRules(open) ?? self
  }
}
