import JSON
import LegacyAnswers
import Mappings
import Signing
import Simulator
import Support
import Testing
import Truth

/// Each fault is one cell of one row of the tables that the composer works by, changed as a careless hand would.
///
/// The tables are data of the product, read by the initialisers that the product uses; nothing in it knows of faults. What
/// finds them is not the tables: answers of Apple's, and answers of the simulator, which shares no code with the composer.
@Suite(.computesForLong) struct `A fault in a rule of composing` {
  struct Fault: Sendable, CustomStringConvertible {
    let row: String
    let column: String
    let value: String
    var description: String { "\(row) \(column)=\(value)" }
  }

  static let faults: [Fault] = [
    // in_app and receipt
    ("receipt original_purchase_date", "attribute", "12"), ("receipt version_external_identifier", "attribute", "15"),
    ("receipt original_application_version", "attribute", "3"), ("inApp transaction_id", "attribute", "1705"),
    ("inApp purchase_date", "attribute", "1706"), ("inApp expires_date", "until", "2020-01-01"),
    ("inApp quantity", "form", "number"), ("inApp is_trial_period", "attribute", "1719"),
    ("inApp is_in_intro_offer_period", "when", "always"), ("inApp in_app_ownership_type", "form", "text"),
    ("inApp web_order_line_item_id", "form", "number"), ("inApp cancellation_reason", "attribute", "1701"),
    // latest_receipt_info
    ("latest product_id", "field", "subscriptionGroupIdentifier"), ("latest transaction_id", "order", "VAR"),
    ("latest original_purchase_date", "order", "VAR"), ("latest purchase_date", "field", "originalPurchaseDate"),
    ("latest is_trial_period", "form", "intro"),
    ("latest is_in_intro_offer_period", "form", "trial"), ("latest is_in_intro_offer_period", "when", "always"),
    ("latest in_app_ownership_type", "since", "2030-01-01"),
    ("latest subscription_group_identifier", "since", "2030-01-01"), ("latest is_upgraded", "until", "2021-01-01"),
    ("latest promotional_offer_id", "form", "text"), ("latest offer_code_ref_name", "form", "text"),
    ("latest app_account_token", "field", "transactionId"),
    // pending_renewal_info
    ("pending auto_renew_product_id", "field", "productId"), ("pending auto_renew_status", "form", "number"),
    ("pending is_in_billing_retry_period", "form", "text"),
    ("pending price_increase_status", "since", "2030-01-01"),
    // iOS 6
    ("flat expires_date", "form", "date"), ("flat is_trial_period", "since", "-"), ("flat bvrs", "attribute", "bid"),
    ("flatAnswer auto_renew_status", "form", "switch"), ("flatAnswer auto_renew_product_id", "when", "known"),
    ("flatAnswer expiration_intent", "since", "2030-01-01"),
    // Beyond single fields
    ("Y-003", "reading", "transactionIdAscending"), ("Y-003", "since", "2015-01-01"),
    ("Y-004", "reading", "newestOfEachSubscription"), ("Y-017", "reading", "none"), ("Y-022", "since", "2030-01-01"),
    ("Y-024", "since", "2030-01-01"), ("Y-031", "reading", "anyFreeTrial"), ("Y-037", "reading", "active"),
    ("Y-010", "reading", "asKnown"),
    ("Y-033", "reading", "promotionalOfferId"),
  ].map { Fault(row: $0.0, column: $0.1, value: $0.2) }

  /// A few of the customers of `SimulatedTests`, chosen so that every situation occurs.
  static let samples: [SimulatedCase] = {
    var samples: [SimulatedCase] = []
    var seen: [SimulatedCase.Situation: Int] = [:]
    for (environment, seed) in [(AppStoreEnvironment.sandbox, UInt64(7)), (.production, 11)] {
      do {
        try SimulatedCases(customers: 100, in: environment, seed: seed).forEach { sample in
          guard sample.situations.contains(where: { seen[$0, default: 0] < 15 }) else { return }
          for situation in sample.situations { seen[situation, default: 0] += 1 }
          samples.append(sample)
        }
      } catch { preconditionFailure("no simulated customers: \(error)") }
    }
    return samples
  }()

  static func rules(_ fault: Fault?) throws -> ComposingRules {
    let fields = edited(.answerFields, fault)
    let rules = edited(.answerRules, fault)
    return try ComposingRules(
      fields: try AnswerFieldTable(fields), rules: try AnswerRuleTable(rules), choosing: ["Y-016"])
  }

  /// The table with the fault's cell changed.
  ///
  /// The rows of a reading that is there twice then trade places.
  private static func edited(_ table: MappingTable, _ fault: Fault?) -> [UInt8] {
    guard let fault else { return table.bytes }
    let embedded = table.embedded
    var text = embedded.columns.joined(separator: "\t") + "\n"
    let faulty = embedded.rows.first { isMeant($0, fault) }
    for row in embedded.rows {
      var cells = embedded.columns.map { row[$0] }
      if let faulty, let place = embedded.columns.firstIndex(of: fault.column) {
        if row.id == faulty.id {
          cells[place] = fault.value
        } else if fault.column == "reading", row["rule"] == faulty["rule"], row["reading"] == fault.value {
          cells[place] = faulty["reading"]
        }
      }
      text += cells.joined(separator: "\t") + "\n"
    }
    return Array(text.utf8)
  }

  private static func isMeant(_ row: Table.Row, _ fault: Fault) -> Bool {
    row.id == fault.row || (row["place"] != "" && "\(row["place"]) \(row["key"])" == fault.row)
  }

  /// What is found with these rules, by either judge, up to the first answer that differs.
  private static func findings(_ composer: AnswerComposer) throws -> (real: Int, simulated: Int) {
    let real = try RealPairs.all.reduce(0) { try $0 + (RealPairs.report($1, composer)?.different.count ?? 0) }
    var comparison = SimulatedComparison()
    for sample in samples where real + comparison.differences == 0 {
      try comparison.add(sample, answered: composer.answer(sample.request, sample.facts))
    }
    return (real, comparison.differences)
  }

  @Test func `is the only thing that is found`() throws {
    let found = try Self.findings(AnswerComposer(try Self.rules(nil)))
    #expect(found.real == 0 && found.simulated == 0)
    #expect(Self.faults.count >= 30)
  }

  @Test(arguments: faults)
  func `is found`(fault: Fault) throws {
    let isKnown = [MappingTable.answerFields, .answerRules].contains { table in
      table.embedded.rows.contains { Self.isMeant($0, fault) && $0[fault.column] != fault.value }
    }
    #expect(isKnown, "no row has this cell to change")
    let found = try Self.findings(AnswerComposer(try Self.rules(fault)))
    #expect(found.real + found.simulated > 0)
  }
}
