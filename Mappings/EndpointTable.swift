/// What can be asked of Apple, and how: `endpoints.tsv`.
public struct EndpointTable: Sendable {
  public struct Row: Sendable {
    public let id: String
    public let endpoint: String
    /// Of `switchyard api`.
    public let word: String
    public let method: String
    /// With `{name}` where a value stands.
    public let path: String
    /// Calls a second that Apple documents for Production; nil where it documents none.
    public let perSecond: Int?
    /// Whether asking twice is as good as once.
    public let isRepeatable: Bool
    /// Whether the call changes something at Apple.
    public let changes: Bool

    /// The names of the values in the path, in their order.
    public var parameters: [String] {
      path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }
  }

  public let rows: [Row]
  private let byName: [String: Row]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(
      bytes, columns: ["id", "endpoint", "word", "method", "path", "perSecond", "repeatable", "changes"])
    var rows: [Row] = []
    var byName: [String: Row] = [:]
    for row in table.rows {
      let limit = Int(row["perSecond"])
      guard row["perSecond"] == "-" || limit.map({ $0 > 0 }) == true else {
        throw .unknownWord(row: row.id, column: "perSecond")
      }
      for column in ["repeatable", "changes"] where !["yes", "no"].contains(row[column]) {
        throw .unknownWord(row: row.id, column: column)
      }
      let endpoint = Row(
        id: row.id, endpoint: row["endpoint"], word: row["word"], method: row["method"], path: row["path"],
        perSecond: limit, isRepeatable: row["repeatable"] == "yes", changes: row["changes"] == "yes")
      guard byName.updateValue(endpoint, forKey: endpoint.endpoint) == nil else { throw .repeatedRow(row.id) }
      rows.append(endpoint)
    }
    self.rows = rows
    self.byName = byName
  }

  /// The row of an endpoint; nil when this build knows none of that name.
  public subscript(endpoint: String) -> Row? { byName[endpoint] }
}
