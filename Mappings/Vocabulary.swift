public import Purchases

/// What this build believes about Apple's vocabulary: the tables beside this file, embedded in the binary.
public struct Vocabulary: Sendable {
  public let events: EventTable
  public let purchases: FieldTable<PurchaseField>
  public let renewals: FieldTable<RenewalField>
  public let appTransactions: FieldTable<AppTransactionField>
  package let receipts: ReceiptTable
  package let legacyPurchases: V1FieldTable<PurchaseField>
  package let legacyRenewals: V1FieldTable<RenewalField>
  public let legacyStatuses: VerifyReceiptStatusTable
  public let legacyEvents: V1EventTable
  public let eventsToLegacy: EventToV1Table
  package let inferences: InferenceTable
  package let withoutCounterpart: WithoutCounterpartTable
  public let endpoints: EndpointTable
  public let apiErrors: ErrorTable
  package let answerFields: ResponseFieldTable
  package let answerRules: ResponseRuleTable
  package let answerChecks: ResponseStatusTable
  package let differences: DifferenceTable

  package init() throws(Table.Malformed) {
    events = try EventTable(PackageResources.events_tsv)
    purchases = try FieldTable(PackageResources.transaction_fields_tsv)
    renewals = try FieldTable(PackageResources.renewal_fields_tsv)
    appTransactions = try FieldTable(PackageResources.app_transaction_fields_tsv)
    receipts = try ReceiptTable(PackageResources.receipt_fields_tsv)
    legacyPurchases = try V1FieldTable(PackageResources.v1_transaction_fields_tsv, hasTop: false)
    legacyRenewals = try V1FieldTable(PackageResources.v1_renewal_fields_tsv, hasTop: true)
    legacyStatuses = try VerifyReceiptStatusTable(PackageResources.v1_statuses_tsv)
    legacyEvents = try V1EventTable(PackageResources.v1_events_tsv)
    eventsToLegacy = try EventToV1Table(PackageResources.v2_events_to_v1_tsv)
    inferences = try InferenceTable(PackageResources.inferences_tsv)
    withoutCounterpart = try WithoutCounterpartTable(PackageResources.without_counterpart_tsv)
    endpoints = try EndpointTable(PackageResources.endpoints_tsv)
    apiErrors = try ErrorTable(PackageResources.api_errors_tsv)
    answerFields = try ResponseFieldTable(PackageResources.answer_fields_tsv)
    answerRules = try ResponseRuleTable(PackageResources.answer_rules_tsv)
    answerChecks = try ResponseStatusTable(PackageResources.answer_checks_tsv)
    differences = try DifferenceTable(PackageResources.difference_causes_tsv)
  }

  /// The tables of this build, read once.
  public static let embedded: Vocabulary = {
    do { return try Vocabulary() } catch { preconditionFailure("Mappings/: \(error); a test loads every table") }
  }()
}
