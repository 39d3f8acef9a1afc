/// Which status an answer of verifyReceipt has, and in which order it is decided: `answer-checks.tsv`.
package struct ResponseStatusTable: Sendable {
  /// In the order in which they are made.
  package enum Check: String, Sendable, CaseIterable {
    case json, receipt, proof, environment, app, secret, data
  }

  /// What a row says to answer.
  package enum Answer: Hashable, Sendable {
    case status(Int64)
    /// Apple is asked; the status stands while it cannot be.
    case askApple(otherwise: Int64)
  }

  package struct Row: Sendable {
    package let id: String
    package let check: Check
    /// What the check found; of a receipt the code of its refusal.
    package let finding: String
    package let answer: Answer
    package let standing: ResponseFieldTable.Verification
    package let evidence: String
  }

  package let rows: [Row]

  static let columns = ["id", "check", "finding", "answer", "standing", "evidence"]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(bytes, columns: Self.columns)
    var rows: [Row] = []
    for row in table.rows {
      guard let check = Check(rawValue: row["check"]) else { throw .unknownWord(row: row.id, column: "check") }
      guard let answer = Self.answer(row["answer"]) else { throw .unknownWord(row: row.id, column: "answer") }
      guard let standing = ResponseFieldTable.Verification(rawValue: row["standing"]) else {
        throw .unknownWord(row: row.id, column: "standing")
      }
      guard !rows.contains(where: { $0.finding == row["finding"] && $0.check == check }) else {
        throw .repeatedRow(row.id)
      }
      rows.append(
        Row(
          id: row.id, check: check, finding: row["finding"], answer: answer, standing: standing,
          evidence: row["evidence"]))
    }
    for check in Check.allCases where !rows.contains(where: { $0.check == check }) {
      throw .missingRow(check.rawValue)
    }
    self.rows = rows
  }

  private static func answer(_ text: String) -> Answer? {
    let prefix = "askAppleElse"
    if text.hasPrefix(prefix) {
      return Int64(text.dropFirst(prefix.count)).map { .askApple(otherwise: $0) }
    }
    return Int64(text).map { .status($0) }
  }

  package subscript(check: Check, finding: String) -> Row? {
    rows.first { $0.check == check && $0.finding == finding }
  }
}
