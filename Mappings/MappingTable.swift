import Purchases

/// The tables of this build, by the names of their files.
public enum MappingTable: String, Sendable, CaseIterable {
  case events
  case transactionFields = "transaction-fields"
  case renewalFields = "renewal-fields"
  case appTransactionFields = "app-transaction-fields"
  case receiptFields = "receipt-fields"
  case legacyTransactionFields = "v1-transaction-fields"
  case legacyRenewalFields = "v1-renewal-fields"
  case legacyStatuses = "v1-statuses"
  case legacyEvents = "v1-events"
  case eventsToLegacy = "v2-events-to-v1"
  case inferences
  case withoutCounterpart = "without-counterpart"
  case endpoints
  case apiErrors = "api-errors"
  case answerFields = "answer-fields"
  case answerRules = "answer-rules"
  case answerChecks = "answer-checks"
  case differenceCauses = "difference-causes"

  /// As the file is called.
  public var file: String { "\(rawValue).tsv" }

  /// The capital letter that its row ids begin with, and no other table's.
  public var letter: Character {
    switch self {
    case .events: "N"
    case .transactionFields: "T"
    case .renewalFields: "R"
    case .appTransactionFields: "A"
    case .receiptFields: "P"
    case .legacyTransactionFields: "L"
    case .legacyRenewalFields: "Q"
    case .legacyStatuses: "S"
    case .legacyEvents: "V"
    case .eventsToLegacy: "W"
    case .inferences: "I"
    case .withoutCounterpart: "X"
    case .endpoints: "C"
    case .apiErrors: "E"
    case .answerFields: "F"
    case .answerRules: "Y"
    case .answerChecks: "K"
    case .differenceCauses: "D"
    }
  }

  /// The table as it is embedded in this build, as text.
  public var bytes: [UInt8] {
    switch self {
    case .events: PackageResources.events_tsv
    case .transactionFields: PackageResources.transaction_fields_tsv
    case .renewalFields: PackageResources.renewal_fields_tsv
    case .appTransactionFields: PackageResources.app_transaction_fields_tsv
    case .receiptFields: PackageResources.receipt_fields_tsv
    case .legacyTransactionFields: PackageResources.v1_transaction_fields_tsv
    case .legacyRenewalFields: PackageResources.v1_renewal_fields_tsv
    case .legacyStatuses: PackageResources.v1_statuses_tsv
    case .legacyEvents: PackageResources.v1_events_tsv
    case .eventsToLegacy: PackageResources.v2_events_to_v1_tsv
    case .inferences: PackageResources.inferences_tsv
    case .withoutCounterpart: PackageResources.without_counterpart_tsv
    case .endpoints: PackageResources.endpoints_tsv
    case .apiErrors: PackageResources.api_errors_tsv
    case .answerFields: PackageResources.answer_fields_tsv
    case .answerRules: PackageResources.answer_rules_tsv
    case .answerChecks: PackageResources.answer_checks_tsv
    case .differenceCauses: PackageResources.difference_causes_tsv
    }
  }

  /// The table as it is embedded in this build.
  public var embedded: Table {
    do { return try Table(bytes) } catch { preconditionFailure("Mappings/\(file): \(error); a test loads every table") }
  }

  /// Reads `bytes` as this table's types do; whatever they would stumble over is thrown.
  public func load(_ bytes: [UInt8]) throws(Table.Malformed) {
    switch self {
    case .events: _ = try EventTable(bytes)
    case .transactionFields: _ = try FieldTable<PurchaseField>(bytes)
    case .renewalFields: _ = try FieldTable<RenewalField>(bytes)
    case .appTransactionFields: _ = try FieldTable<AppTransactionField>(bytes)
    case .receiptFields: _ = try ReceiptTable(bytes)
    case .legacyTransactionFields: _ = try V1FieldTable<PurchaseField>(bytes, hasTop: false)
    case .legacyRenewalFields: _ = try V1FieldTable<RenewalField>(bytes, hasTop: true)
    case .legacyStatuses: _ = try VerifyReceiptStatusTable(bytes)
    case .legacyEvents: _ = try V1EventTable(bytes)
    case .eventsToLegacy: _ = try EventToV1Table(bytes)
    case .inferences: _ = try InferenceTable(bytes)
    case .withoutCounterpart: _ = try WithoutCounterpartTable(bytes)
    case .endpoints: _ = try EndpointTable(bytes)
    case .apiErrors: _ = try ErrorTable(bytes)
    case .answerFields: _ = try ResponseFieldTable(bytes)
    case .answerRules: _ = try ResponseRuleTable(bytes)
    case .answerChecks: _ = try ResponseStatusTable(bytes)
    case .differenceCauses: _ = try DifferenceTable(bytes)
    }
  }
}
