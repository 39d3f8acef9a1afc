import Mappings
import Purchases
import Time

/// The fields and rules of answers at one time, ready for use.
struct ResponseSchema: Sendable {
  /// The first request it is for.
  let begins: Timestamp
  let readings: RuleOptions
  let receipt: [FieldRule]
  let inApp: [FieldRule]
  let latest: [FieldRule]
  let pending: [FieldRule]
  let flat: [FieldRule]
  let flatAnswer: [FieldRule]
  private let answer: [String: FieldRule]

  init(_ rules: ComposerRules, from begins: Timestamp) {
    func plans(_ place: ResponseFieldTable.Container) -> [FieldRule] {
      rules.fields.rows(place, at: begins).map(FieldRule.init)
    }
    self.begins = begins
    readings = RuleOptions(rules, at: begins)
    receipt = plans(.receipt)
    inApp = plans(.inApp)
    latest = plans(.latest)
    pending = plans(.pending)
    flat = plans(.flat)
    flatAnswer = plans(.flatAnswer)
    answer = Dictionary(plans(.answer).map { ($0.key, $0) }) { first, _ in first }
  }

  /// A field of the answer's top; nil where the table has none.
  func top(_ key: String) -> FieldRule? { answer[key] }

  /// Every era that the tables know, the latest first.
  static func all(_ rules: ComposerRules) -> [ResponseSchema] {
    let dates =
      rules.fields.rows.flatMap { [$0.since, $0.until] } + rules.rules.rows.map(\.since)
    let begins = Set(dates.compactMap(\.self)).union([Timestamp(.min)])
    return begins.sorted(by: >).map { ResponseSchema(rules, from: $0) }
  }
}

/// A row of `answer-fields.tsv` with its key as bytes.
///
/// A class, so that a loop over a row's fields copies nothing.
final class FieldRule: Sendable {
  let id: String
  let key: String
  /// `,"key":`, then the same with `_ms` and `_pst`; of an iOS 6 date with `_formatted` and `_formatted_pst`.
  let labels: (plain: [UInt8], second: [UInt8], third: [UInt8])
  let suffixes: (second: String, third: String)
  let purchaseField: PurchaseField?
  let renewalField: RenewalField?
  let attribute: Int64?
  let signedKey: String?
  let order: [ResponseFieldTable.Origin]
  let form: ResponseFieldTable.Form
  let presence: ResponseFieldTable.Presence

  init(_ row: ResponseFieldTable.Row) {
    id = row.id
    key = row.key
    suffixes = row.form == .flatDate ? ("_formatted", "_formatted_pst") : ("_ms", "_pst")
    func label(_ suffix: String) -> [UInt8] { Array(",\"\(row.key)\(suffix)\":".utf8) }
    labels = (label(""), label(suffixes.second), label(suffixes.third))
    purchaseField = row.purchaseField
    renewalField = row.renewalField
    attribute = row.attribute
    signedKey = row.signedKey
    order = row.order
    form = row.form
    presence = row.presence
  }
}

/// What the rules say at one time.
struct RuleOptions: Sendable {
  private let rows: [ResponseRuleTable.Rule: ResponseRuleTable.Row]
  let latestOrder: ResponseRuleTable.Option
  let excludeOld: ResponseRuleTable.Option
  let identityIsReceipts: Bool
  let refundShowsInApp: Bool
  let cutsToSeconds: Bool
  let anyFreeTrialCounts: Bool
  let winBackIsPromotional: Bool
  let hidesPartRefund: Bool
  let consumablesOfReceipt: Bool

  init(_ rules: ComposerRules, at date: Timestamp) {
    var rows: [ResponseRuleTable.Rule: ResponseRuleTable.Row] = [:]
    for rule in ResponseRuleTable.Rule.allCases { rows[rule] = rules.row(rule, at: date) }
    self.rows = rows
    func reads(_ rule: ResponseRuleTable.Rule, _ reading: ResponseRuleTable.Option) -> Bool {
      rows[rule]?.reading == reading
    }
    latestOrder = rules.row(.latestOrder, at: date).reading
    excludeOld = rules.row(.excludeOld, at: date).reading
    identityIsReceipts = reads(.rowIdentity, .receiptFirst)
    refundShowsInApp = reads(.refundInApp, .asKnown)
    cutsToSeconds = reads(.seconds, .whole)
    anyFreeTrialCounts = reads(.trialOfOffers, .anyFreeTrial)
    winBackIsPromotional = reads(.winBack, .promotionalOfferId)
    hidesPartRefund = reads(.partRefund, .notTold)
    consumablesOfReceipt = reads(.consumables, .inReceipt)
  }

  /// Whether a rule is read this way.
  func reads(_ rule: ResponseRuleTable.Rule, _ reading: ResponseRuleTable.Option) -> Bool {
    rows[rule]?.reading == reading
  }

  /// The id of the row that holds for a rule.
  func id(_ rule: ResponseRuleTable.Rule) -> String { rows[rule]?.id ?? "-" }
}
