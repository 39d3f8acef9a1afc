/// A database of the shared private server, and the program told to use it.
struct TestDatabase {
  let configuration: DatabaseConfiguration
  let place = TemporaryDirectory()
  let program: Program

  init() async throws {
    configuration = try await PrivateMariaDB.shared.database()
    guard case .socket(let socket) = configuration.address else { throw DatabaseError(.misuse, "no socket") }
    let url = "mysql://\(configuration.user)@localhost/\(configuration.database ?? "")?socket=\(socket)&timeout=300"
    program = Program(
      options: ["--data-dir", "\(place.path)/data"], environment: ["SWITCHYARD_DATABASE": url])
    // What a test stores itself opens in the program.
    _ = FileMetadata.makeDirectory("\(place.path)/data")
    try PrivateFile.create("\(place.path)/data/master.key", contents: Keyring.ofTests.current.fileContents)
  }

  /// The same with the schema in place.
  static func migrated() async throws -> TestDatabase {
    let database = try await TestDatabase()
    let outcome = try await database.program.run("db", "migrate")
    guard outcome.status == 0 else { throw DatabaseError(.misuse, outcome.notes) }
    return database
  }

  func execute(_ sql: SQL) async throws {
    let connection = try await Connection.open(configuration)
    _ = try await connection.transaction { session throws(DatabaseError) in try session.execute(sql) }
    await connection.close()
  }

  /// Runs a statement that cannot be prepared, such as one that creates a trigger.
  func run(_ sql: SQL) async throws {
    let connection = try await Connection.open(configuration)
    try await connection.read { session throws(DatabaseError) in try session.run(sql) }
    await connection.close()
  }

  func rows(_ sql: SQL) async throws -> [Row] {
    let connection = try await Connection.open(configuration)
    let rows = try await connection.read { session throws(DatabaseError) in try session.query(sql) }
    await connection.close()
    return rows
  }

  /// The number of rows of `table WHERE condition`.
  func count(_ rows: SQL) async throws -> Int {
    try await self.rows("SELECT COUNT(*) AS n FROM " + rows).first?.int("n") ?? 0
  }

  /// Notes comparisons of so many customers; the first ones would have had other access.
  ///
  /// - Parameters:
  ///   - environment: 1 for Production, 2 for the Sandbox.
  ///   - app: its bundle ID; `%` for all apps.
  func addComparisons(_ count: Int, affected: Int, in environment: Int = 1, of app: String = "%") async throws {
    let now = WallClock.system.now()
    let fields =
      #"[{"path":"status","cause":"ourDefect","theirs":0,"ours":21006,"impact":{"product":"p"},"rule":"Y-001"}]"#
    for number in 0..<count {
      let isAffected = number < affected
      try await execute(
        """
        INSERT INTO comparisons (app, environment, window_start, customer, receipt, compared_at, epoch, cause, counts,
          differences, impact)
        SELECT id, \(environment), 1, UNHEX(MD5(\(number))), UNHEX(MD5(\(number))), \(now), 2,
          \(isAffected ? "ourDefect" : "equal"), \(isAffected ? 1 : 0), \(isAffected ? fields : "[]"),
          NULLIF(\(isAffected ? "{}" : ""), '') FROM apps WHERE bundle_id LIKE \(app)
        """)
    }
  }

  /// Adds customers who were compared in Production before their history was known, and whose access would have differed.
  func addIncomplete(_ count: Int) async throws {
    let now = WallClock.system.now()
    let fields = #"[{"path":"status","cause":"incomplete","theirs":0,"ours":21006,"impact":{"product":"p"}}]"#
    for number in 0..<count {
      let name = "incomplete \(number)"
      try await execute(
        """
        INSERT INTO comparisons (app, environment, window_start, customer, receipt, compared_at, epoch, cause, counts,
          differences, impact)
        SELECT id, 1, 1, UNHEX(MD5(\(name))), UNHEX(MD5(\(name))), \(now), 2, 'incomplete', 0, \(fields), '{}' FROM apps
        """)
    }
  }

  /// Puts a notification into quarantine, as the service does with one it cannot take in; its digest.
  func quarantine(_ body: [UInt8], code: String, receivedAt: Int64) async throws -> String {
    let message = InboxMessage(kind: .notification, body: body, receivedAt: Timestamp(receivedAt))
    try await setAside(
      message, LedgerEntry.QuarantineReason(source: .authentic, code: code, detail: "for a test", claimedApp: nil))
    return message.digest.hex
  }

  /// Puts a message into quarantine.
  func setAside(_ message: InboxMessage, _ refusal: LedgerEntry.QuarantineReason) async throws {
    let pool = Pool(configuration)
    #expect(try await LedgerStore(pool: pool).append([LedgerEntry(message, .quarantined(refusal))]) == [.quarantined])
    await pool.close()
  }
}
