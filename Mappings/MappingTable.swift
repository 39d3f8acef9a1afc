import Purchases

/// The tables of this build, by the names of their files.
package enum MappingTable: String, Sendable, CaseIterable {
  case events
  case transactionFields = "transaction-fields"
  case renewalFields = "renewal-fields"
  case appTransactionFields = "app-transaction-fields"
  case receiptFields = "receipt-fields"

  /// As the file is called.
  package var file: String { "\(rawValue).tsv" }

  /// The capital letter that its row ids begin with, and no other table's.
  package var letter: Character {
    switch self {
    case .events: "N"
    case .transactionFields: "T"
    case .renewalFields: "R"
    case .appTransactionFields: "A"
    case .receiptFields: "P"
    }
  }

  /// The table as it is embedded in this build, as text.
  package var bytes: [UInt8] {
    switch self {
    case .events: PackageResources.events_tsv
    case .transactionFields: PackageResources.transaction_fields_tsv
    case .renewalFields: PackageResources.renewal_fields_tsv
    case .appTransactionFields: PackageResources.app_transaction_fields_tsv
    case .receiptFields: PackageResources.receipt_fields_tsv
    }
  }

  /// The table as it is embedded in this build.
  package var embedded: Table {
    do { return try Table(bytes) } catch { preconditionFailure("Mappings/\(file): \(error); a test loads every table") }
  }

  /// Reads `bytes` as this table's types do; whatever they would stumble over is thrown.
  package func load(_ bytes: [UInt8]) throws(Table.Malformed) {
    switch self {
    case .events: _ = try EventTable(bytes)
    case .transactionFields: _ = try FieldTable<PurchaseField>(bytes)
    case .renewalFields: _ = try FieldTable<RenewalField>(bytes)
    case .appTransactionFields: _ = try FieldTable<AppTransactionField>(bytes)
    case .receiptFields: _ = try ReceiptTable(bytes)
    }
  }

  /// The columns that say what a row is about: an id stands for that, and for nothing else, for ever.
  package var subject: [String] {
    switch self {
    case .events: ["notificationType", "subtype"]
    case .transactionFields, .renewalFields, .appTransactionFields: ["field"]
    case .receiptFields: ["attribute", "key", "field"]
    }
  }

  /// The closed list of words of a column; nil for a column that is free.
  package func words(of column: String) -> [String]? {
    switch (self, column) {
    case (.events, "date"): EventTable.Moment.allCases.map(\.rawValue)
    case (.transactionFields, "field"), (.receiptFields, "field"): PurchaseField.allCases.map(\.name)
    case (.renewalFields, "field"): RenewalField.allCases.map(\.name)
    case (.appTransactionFields, "field"): AppTransactionField.allCases.map(\.name)
    case (_, "absence"): Absence.allCases.map(\.rawValue) + ["envelope"]
    case (_, "noVote"): ["-"] + Source.allCases.map(\.name)
    case (_, "form"): ReceiptTable.Form.allCases.map(\.rawValue)
    default: nil
    }
  }
}
