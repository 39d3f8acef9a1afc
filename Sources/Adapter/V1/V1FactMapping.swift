import JSON
import Mappings
import Purchases
import Time
import Wire

/// Extracts facts from rows, by the tables of `Mappings`.
struct V1FactMapping<Field: FactField> {
  let table: V1FieldTable<Field>
  /// The field with the kind of an offer that another field names.
  let offerType: Field
  /// The ID fields; a text too long for an ID is recorded.
  private let ids: [Field]
  private(set) var longID: LongID?
  private var meanings = KeyMemory<V1FieldTable<Field>.Meaning>()

  private init(_ table: V1FieldTable<Field>, offerType: Field, ids: [Field]) {
    self.table = table
    self.offerType = offerType
    self.ids = ids
  }

  /// Returns the facts of a row of `in_app`, `latest_receipt_info` or `pending_renewal_info`.
  mutating func facts(_ row: JSONObject) -> Facts<Field> {
    var facts = Facts<Field>()
    // The dates in written form, used if the milliseconds are missing. One bit for each row.
    var written: UInt64 = 0
    let members = row.members
    for place in members.indices {
      let key = members[place].key
      guard let meaning = meanings.meaning(of: key, at: place, search: { [table] in table[$0] }) else { continue }
      if meaning.isSecondChoice {
        written |= meaning.places
      } else {
        // By number: an entry would be copied with its texts.
        for number in meaning.rows.indices {
          take(members[place].value, meaning.rows[number].form, meaning.rows[number].field, row, &facts)
        }
      }
    }
    while written != 0 {
      let entry = table.rows[written.trailingZeroBitCount]
      written &= written - 1
      guard facts[entry.field] == nil, let date = V1TransactionRow(row).looseDate(entry.key) else { continue }
      take(.integer(date.sinceEpoch), entry.form, entry.field, row, &facts)
    }
    return facts
  }

  /// Returns the facts at the top of a notification or an iOS 6 response.
  mutating func factsOfTop(_ top: JSONObject) -> Facts<Field> {
    var facts = Facts<Field>()
    for entry in table.rows {
      if let key = entry.top, let value = top[key] { take(value, entry.form, entry.field, top, &facts) }
    }
    return facts
  }

  /// The order of the members does not affect the result.
  private mutating func take(
    _ value: JSONValue, _ form: V1FieldTable<Field>.Form, _ field: Field, _ row: JSONObject,
    _ facts: inout Facts<Field>
  ) {
    let taken: JSONValue? =
      switch form {
      case .text: Self.text(value)
      case .integer: value.looseInteger.map(JSONValue.integer)
      case .flag: value.looseFlag.map(JSONValue.bool)
      case .switched: value.looseFlag.map { $0 ? 1 : 0 }
      case .date: value.looseDate.map { .integer($0.sinceEpoch) }
      case .revocation: isUpgraded(row) ? nil : value.looseDate.map { .integer($0.sinceEpoch) }
      case .revocationReason: isUpgraded(row) ? nil : value.looseInteger.map(JSONValue.integer)
      case .introductory: value.looseFlag == true && facts[offerType] == nil ? 1 : nil
      case .freeTrial: value.looseFlag == true ? "FREE_TRIAL" : nil
      case .promotional: Self.text(value) == nil ? nil : 2
      case .offerCode: Self.text(value) == nil || namesPromotion(row) ? nil : 3
      case .offerCodeName: namesPromotion(row) ? nil : Self.text(value)
      case .consent: row["price_increase_status"] == nil ? value.looseInteger.map(JSONValue.integer) : nil
      }
    if let taken {
      facts.set(field, taken)
    } else if form == .text, longID == nil, ids.contains(field), let text = value.looseText, text != "" {
      longID = LongID(name: "\(field)", bytes: text.utf8.count)
    }
  }

  /// Returns a text of at most 1,024 bytes, far more than any of Apple's.
  ///
  /// A longer one is not a fact: it is unsigned, and every read of the customer would include it. The message has it.
  private static func text(_ value: JSONValue) -> JSONValue? {
    value.looseText.flatMap { $0 == "" || $0.utf8.count > longestText ? nil : .string($0) }
  }

  private static var longestText: Int { 1_024 }

  private func isUpgraded(_ row: JSONObject) -> Bool { row["is_upgraded"]?.looseFlag == true }
  private func namesPromotion(_ row: JSONObject) -> Bool { row["promotional_offer_id"].flatMap(Self.text) != nil }
}

extension V1FactMapping<PurchaseField> {
  init(_ vocabulary: Vocabulary) {
    self.init(
      vocabulary.legacyPurchases, offerType: .offerType,
      ids: [.originalTransactionId, .transactionId, .webOrderLineItemId, .productId, .appAccountToken])
  }
}

extension V1FactMapping<RenewalField> {
  init(_ vocabulary: Vocabulary) {
    self.init(vocabulary.legacyRenewals, offerType: .offerType, ids: [])
  }
}

struct LongID {
  let name: String
  let bytes: Int
}
