public import Purchases

/// What this build believes about Apple's vocabulary: the tables beside this file, embedded in the binary.
public struct Vocabulary: Sendable {
  public let events: EventTable
  public let purchases: FieldTable<PurchaseField>
  public let renewals: FieldTable<RenewalField>
  public let appTransactions: FieldTable<AppTransactionField>
  package let receipts: ReceiptTable
  package let legacyPurchases: LegacyFieldTable<PurchaseField>
  package let legacyRenewals: LegacyFieldTable<RenewalField>
  public let legacyStatuses: LegacyStatusTable
  public let legacyEvents: LegacyEventTable
  public let eventsToLegacy: EventToLegacyTable
  package let inferences: InferenceTable
  package let withoutCounterpart: WithoutCounterpartTable
  public let endpoints: EndpointTable
  public let apiErrors: ErrorTable
  package let answerFields: AnswerFieldTable
  package let answerRules: AnswerRuleTable
  package let answerChecks: AnswerCheckTable
  package let differences: DifferenceTable

  package init() throws(Table.Malformed) {
    events = try EventTable(PackageResources.events_tsv)
    purchases = try FieldTable(PackageResources.transaction_fields_tsv)
    renewals = try FieldTable(PackageResources.renewal_fields_tsv)
    appTransactions = try FieldTable(PackageResources.app_transaction_fields_tsv)
    receipts = try ReceiptTable(PackageResources.receipt_fields_tsv)
    legacyPurchases = try LegacyFieldTable(PackageResources.v1_transaction_fields_tsv, hasTop: false)
    legacyRenewals = try LegacyFieldTable(PackageResources.v1_renewal_fields_tsv, hasTop: true)
    legacyStatuses = try LegacyStatusTable(PackageResources.v1_statuses_tsv)
    legacyEvents = try LegacyEventTable(PackageResources.v1_events_tsv)
    eventsToLegacy = try EventToLegacyTable(PackageResources.v2_events_to_v1_tsv)
    inferences = try InferenceTable(PackageResources.inferences_tsv)
    withoutCounterpart = try WithoutCounterpartTable(PackageResources.without_counterpart_tsv)
    endpoints = try EndpointTable(PackageResources.endpoints_tsv)
    apiErrors = try ErrorTable(PackageResources.api_errors_tsv)
    answerFields = try AnswerFieldTable(PackageResources.answer_fields_tsv)
    answerRules = try AnswerRuleTable(PackageResources.answer_rules_tsv)
    answerChecks = try AnswerCheckTable(PackageResources.answer_checks_tsv)
    differences = try DifferenceTable(PackageResources.difference_causes_tsv)
  }

  /// The tables of this build, read once.
  public static let embedded: Vocabulary = {
    do { return try Vocabulary() } catch { preconditionFailure("Mappings/: \(error); a test loads every table") }
  }()
}
