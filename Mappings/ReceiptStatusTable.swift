/// The statuses of verifyReceipt: what each means and what to do: `receipt-statuses.tsv`.
package struct ReceiptStatusTable: Sendable {
  /// What follows from a status.
  package enum Retry: String, Sendable, CaseIterable {
    case no
    /// Ask again, unless the answer says that it is of no use.
    case yes
    /// Ask again only when the answer says so.
    case ifTold = "if-told"
    /// Ask the other environment.
    case route
    /// It is an answer like status 0.
    case answer
  }

  package struct Row: Sendable {
    package let id: String
    package let statuses: ClosedRange<Int64>
    package let retry: Retry
    package let meaning: String
    package let next: String
  }

  package let rows: [Row]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(bytes, columns: ["id", "first", "last", "retry", "meaning", "next"])
    var rows: [Row] = []
    for row in table.rows {
      guard let first = Int64(row["first"]) else { throw .unknownWord(row: row.id, column: "first") }
      guard let last = Int64(row["last"]), last >= first else { throw .unknownWord(row: row.id, column: "last") }
      guard let retry = Retry(rawValue: row["retry"]) else { throw .unknownWord(row: row.id, column: "retry") }
      guard !rows.contains(where: { $0.statuses.overlaps(first...last) }) else { throw .repeatedRow(row.id) }
      rows.append(
        Row(id: row.id, statuses: first...last, retry: retry, meaning: row["meaning"], next: row["next"]))
    }
    self.rows = rows
  }

  /// The row of a status; nil for 0 and for what Apple does not document.
  package subscript(status: Int64) -> Row? { rows.first { $0.statuses.contains(status) } }
}
