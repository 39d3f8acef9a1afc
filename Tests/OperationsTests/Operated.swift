/// A ledger with one registered app, and what was changed in it.
struct Operated {
  static let now = Timestamp(1_760_000_000_000)
  static let bundleID = "com.example.app"
  static let kim = AuditContext("kim", because: "ticket 4")

  let configuration: DatabaseConfiguration
  let connection: Connection
  let app: App
  private let checksums: SQL

  init() async throws {
    configuration = try await PrivateMariaDB.shared.database()
    connection = try await Connection.open(configuration)
    (app, checksums) = try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.now, in: session)
      let app = try AppTable.add(bundleID: Self.bundleID, appAppleID: nil, at: Self.now, in: session)
      let checksums = try Self.checksums(in: session)
      return (app, checksums)
    }
  }

  func execute(_ statement: SQL) async throws {
    _ = try await connection.read { session throws(DatabaseError) in try session.execute(statement) }
  }

  /// A checksum of the rows of each table.
  func contents() async throws -> [String: Int64] {
    try await connection.read { session throws(DatabaseError) in
      var sums: [String: Int64] = [:]
      for row in try session.query(checksums) { sums[try row.text("name")] = try row.int64("sum") }
      return sums
    }
  }

  /// One statement for all tables.
  ///
  /// CHECKSUM TABLE has no result on MySQL in a prepared statement.
  private static func checksums(in session: borrowing Session) throws(DatabaseError) -> SQL {
    var columns: [String: [SQL]] = [:]
    for row in try session.query(
      """
      SELECT table_name AS name, column_name AS item FROM information_schema.columns
      WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position
      """)
    {
      let item: SQL = "COALESCE(HEX(\(identifier: try row.text("item"))), '-')"
      columns[try row.text("name"), default: []].append(item)
    }
    return columns.sorted { $0.key < $1.key }.map { name, columns -> SQL in
      """
      SELECT \(name) AS name,
        CAST(COALESCE(SUM(CRC32(CONCAT_WS(',', \(columns.joined(separator: ", "))))), 0) AS SIGNED) AS sum
      FROM \(identifier: name)
      """
    }.joined(separator: " UNION ALL ")
  }

  /// Action, subject and reason of each entry, oldest first; all of them are kim's.
  func audit() async throws -> [String] {
    let entries = try await connection.read { session throws(DatabaseError) in
      var entries: [String] = []
      for row in try session.query("SELECT actor, action, subject, reason FROM audit ORDER BY id") {
        #expect(try row.text("actor") == "kim")
        entries.append("\(try row.text("action")) \(try row.text("subject")) \(try row.text("reason"))")
      }
      return entries
    }
    return entries
  }

  /// Makes the plan, which changes no row; applies it, which changes rows and adds this entry to the audit, or, where there
  /// is no audit to write to, changes no row at all.
  func expect<Plan, Outcome>(
    _ entry: String, _ plan: () async throws -> Plan, apply: (Plan) async throws -> Outcome
  ) async throws -> Outcome {
    let (before, audit) = (try await contents(), try await audit())
    let planned = try await plan()
    #expect(try await contents() == before, "\(entry): the plan changed something")
    try await execute("RENAME TABLE audit TO no_audit")
    var error: DatabaseError?
    do { _ = try await apply(planned) } catch let failure as DatabaseError { error = failure }
    try await execute("RENAME TABLE no_audit TO audit")
    #expect(error != nil, "\(entry): applied without an entry")
    #expect(try await contents() == before, "\(entry): changed without an entry")
    let outcome = try await apply(planned)
    let after = try await contents()
    #expect(after.filter { $0.key != "audit" && $0.value != before[$0.key] }.isEmpty == false, "\(entry): no change")
    #expect(try await self.audit() == audit + [entry])
    return outcome
  }

  /// Nothing is changed by what throws this.
  func expectRefusal<Failure: Error>(_ kind: Failure.Type, _ body: () async throws -> Void) async throws {
    let before = try await contents()
    var failure: (any Error)?
    do { try await body() } catch { failure = error }
    #expect(failure is Failure, "\(String(describing: failure))")
    #expect(try await contents() == before)
  }
}
