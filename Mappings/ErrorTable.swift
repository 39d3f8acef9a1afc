/// Apple's error codes: what each means, whether to ask again, and what to do: `api-errors.tsv`.
public struct ErrorTable: Sendable {
  /// Whether the same call may be made again.
  public enum Retry: String, Sendable, CaseIterable {
    /// Apple's name for the error says so.
    case yes
    /// After the time that Retry-After names.
    case later
    /// As after any failure of a server.
    case cautiously
    case no
  }

  public struct Row: Sendable {
    public let id: String
    public let code: Int64
    /// Apple's name for it.
    public let name: String
    public let retry: Retry
    public let meaning: String
    /// What to do about it.
    public let next: String
  }

  public let rows: [Row]
  private let byCode: [Int64: Row]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(bytes, columns: ["id", "code", "name", "retry", "meaning", "next"])
    var rows: [Row] = []
    var byCode: [Int64: Row] = [:]
    for row in table.rows {
      guard let code = Int64(row["code"]) else { throw .unknownWord(row: row.id, column: "code") }
      guard let retry = Retry(rawValue: row["retry"]) else { throw .unknownWord(row: row.id, column: "retry") }
      let error = Row(
        id: row.id, code: code, name: row["name"], retry: retry, meaning: row["meaning"], next: row["next"])
      guard byCode.updateValue(error, forKey: code) == nil else { throw .repeatedRow(row.id) }
      rows.append(error)
    }
    self.rows = rows
    self.byCode = byCode
  }

  /// The row of a code; nil for one that Apple had not documented when this was built.
  public subscript(code: Int64) -> Row? { byCode[code] }
}
