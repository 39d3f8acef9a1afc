import Mappings
import Purchases
import Time

/// The fields and rules of answers at one time, ready for use.
struct AnswerEra: Sendable {
  /// The first request it is for.
  let begins: Milliseconds
  let readings: Readings
  let receipt: [FieldPlan]
  let inApp: [FieldPlan]
  let latest: [FieldPlan]
  let pending: [FieldPlan]
  let flat: [FieldPlan]
  let flatAnswer: [FieldPlan]
  private let answer: [String: FieldPlan]

  init(_ rules: ComposingRules, from begins: Milliseconds) {
    func plans(_ place: AnswerFieldTable.Place) -> [FieldPlan] {
      rules.fields.rows(place, at: begins).map(FieldPlan.init)
    }
    self.begins = begins
    readings = Readings(rules, at: begins)
    receipt = plans(.receipt)
    inApp = plans(.inApp)
    latest = plans(.latest)
    pending = plans(.pending)
    flat = plans(.flat)
    flatAnswer = plans(.flatAnswer)
    answer = Dictionary(plans(.answer).map { ($0.key, $0) }) { first, _ in first }
  }

  /// A field of the answer's top; nil where the table has none.
  func top(_ key: String) -> FieldPlan? { answer[key] }

  /// Every era that the tables know, the latest first.
  static func all(_ rules: ComposingRules) -> [AnswerEra] {
    let dates =
      rules.fields.rows.flatMap { [$0.since, $0.until] } + rules.rules.rows.map(\.since)
    let begins = Set(dates.compactMap(\.self)).union([Milliseconds(.min)])
    return begins.sorted(by: >).map { AnswerEra(rules, from: $0) }
  }
}

/// A row of `answer-fields.tsv` with its key as bytes.
///
/// A class, so that a loop over a row's fields copies nothing.
final class FieldPlan: Sendable {
  let id: String
  let key: String
  /// `,"key":`, then the same with `_ms` and `_pst`; of an iOS 6 date with `_formatted` and `_formatted_pst`.
  let labels: (plain: [UInt8], second: [UInt8], third: [UInt8])
  let suffixes: (second: String, third: String)
  let purchaseField: PurchaseField?
  let renewalField: RenewalField?
  let attribute: Int64?
  let signedKey: String?
  let order: [AnswerFieldTable.Origin]
  let form: AnswerFieldTable.Form
  let presence: AnswerFieldTable.Presence

  init(_ row: AnswerFieldTable.Row) {
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
struct Readings: Sendable {
  private let rows: [AnswerRuleTable.Rule: AnswerRuleTable.Row]
  let latestOrder: AnswerRuleTable.Reading
  let excludeOld: AnswerRuleTable.Reading
  let identityIsReceipts: Bool
  let refundShowsInApp: Bool
  let cutsToSeconds: Bool
  let anyFreeTrialCounts: Bool
  let winBackIsPromotional: Bool
  let hidesPartRefund: Bool
  let consumablesOfReceipt: Bool

  init(_ rules: ComposingRules, at date: Milliseconds) {
    var rows: [AnswerRuleTable.Rule: AnswerRuleTable.Row] = [:]
    for rule in AnswerRuleTable.Rule.allCases { rows[rule] = rules.row(rule, at: date) }
    self.rows = rows
    func reads(_ rule: AnswerRuleTable.Rule, _ reading: AnswerRuleTable.Reading) -> Bool {
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
  func reads(_ rule: AnswerRuleTable.Rule, _ reading: AnswerRuleTable.Reading) -> Bool {
    rows[rule]?.reading == reading
  }

  /// The id of the row that holds for a rule.
  func id(_ rule: AnswerRuleTable.Rule) -> String { rows[rule]?.id ?? "-" }
}
