/// What can be asked of Apple, and how: `endpoints.tsv`.
package struct EndpointTable: Sendable {
  package struct Row: Sendable {
    package let id: String
    package let endpoint: String
    package let method: String
    /// With `{name}` where a value stands.
    package let path: String
    /// Calls a second that Apple documents for Production; nil where it documents none.
    package let perSecond: Int?
    /// Whether asking twice is as good as once.
    package let isRepeatable: Bool
  }

  package let rows: [Row]
  private let byName: [String: Row]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(bytes, columns: ["id", "endpoint", "method", "path", "perSecond", "repeatable"])
    var rows: [Row] = []
    var byName: [String: Row] = [:]
    for row in table.rows {
      let limit = Int(row["perSecond"])
      guard row["perSecond"] == "-" || limit.map({ $0 > 0 }) == true else {
        throw .unknownWord(row: row.id, column: "perSecond")
      }
      guard ["yes", "no"].contains(row["repeatable"]) else { throw .unknownWord(row: row.id, column: "repeatable") }
      let endpoint = Row(
        id: row.id, endpoint: row["endpoint"], method: row["method"], path: row["path"], perSecond: limit,
        isRepeatable: row["repeatable"] == "yes")
      guard byName.updateValue(endpoint, forKey: endpoint.endpoint) == nil else { throw .repeatedRow(row.id) }
      rows.append(endpoint)
    }
    self.rows = rows
    self.byName = byName
  }

  /// The row of an endpoint; nil when this build knows none of that name.
  package subscript(endpoint: String) -> Row? { byName[endpoint] }
}
