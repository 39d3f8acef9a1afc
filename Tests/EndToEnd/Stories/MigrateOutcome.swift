/// What a migration came to: accounts, and everything that is known, without dates.
struct MigrateOutcome: Equatable {
  let accounts: JSONValue?
  let purchases: [String]
  let customers: [String]

  /// - Parameter rows: runs SQL on the ledger.
  init(accounts: JSONValue?, rows: (SQL) async throws -> [Row]) async throws {
    self.accounts = accounts
    purchases = try await rows(
      """
      SELECT CONCAT(environment, ' ', original_transaction_id, ' ', line, ' ', source) AS what FROM purchases
      ORDER BY environment, original_transaction_id, line, source
      """
    ).map { try $0.text("what") }
    // Labels depend on the order of arrival; who shares one does not.
    var members: [String: [String]] = [:]
    for row in try await rows("SELECT environment, node, label FROM customers") {
      members["\(try row.int("environment")) \(try row.text("label"))", default: []].append(try row.text("node"))
    }
    customers = members.values.map { $0.sorted().joined(separator: " ") }.sorted()
  }
}

extension MigrateSite {
  func outcome(_ job: Int64) async throws -> MigrateOutcome {
    try await MigrateOutcome(accounts: try await status(job)["accounts"]) { try await database.rows($0) }
  }

  /// The simulator's receipts as a team has them; the path of the file.
  func table(in place: TemporaryDirectory) -> String {
    let rows = receipts
    var lines = Array(rows.dropFirst())
    // Each third receipt once more, for another user; each fifth as it is; some damaged.
    for (number, row) in rows.dropFirst().enumerated() {
      let fields = row.split(separator: ",")
      if number % 3 == 0 { lines.append("\(fields[0]),further\(number),\(fields[2])") }
      if number % 5 == 0 { lines.append(row) }
      if number % 7 == 0 { lines.append("\(fields[0]),broken\(number),\(fields[2].prefix(200))") }
    }
    return place.file("receipts.csv", Array(([rows[0]] + lines).joined(separator: "\n").utf8))
  }
}
