/// An app in `ramp 25 %`, of which nothing is known, or that the guard takes back for errors: 20 of 400 calls got no answer
/// of ours, and each of 300 one of Apple's.
enum GuardedApp {
  static let name = "com.example.guarded"
  static let now = Timestamp(1_796_000_000_000)
  static let story =
    "Sandbox: ramp 25 % to shadow: 20 of 400 calls got no answer from Switchyard, 0 of 300 none from Apple"

  /// A ledger with the app alone.
  ///
  /// - Parameter hasCalls: whether calls were counted, those without an answer among them.
  static func database(hasCalls: Bool = true) async throws -> DatabaseConfiguration {
    let configuration = try await PrivateMariaDB.shared.database()
    let connection = try await Connection.open(configuration)
    try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.now, in: session)
      let added = try AppTable.add(bundleID: Self.name, appAppleID: nil, at: Self.now, in: session)
      let scope = AppScope(app: added.id, environment: .sandbox)
      _ = try session.execute(
        "UPDATE flags SET stage = 'ramp', ramp_share = 2500, changed_at = 0 WHERE environment = 2")
      guard hasCalls else { return }
      func add(_ side: ResponseTimeStatistics.Side, _ time: Duration?, _ count: Int) throws(DatabaseError) {
        try AnswerTimeTable.add([.init(side, in: scope, took: time, at: Self.now): count], in: session)
      }
      try add(.ours, .milliseconds(20), 380)
      try add(.ours, nil, 20)
      try add(.apple, .milliseconds(150), 300)
    }
    await connection.close()
    return configuration
  }

  static func count(_ condition: SQL, _ pool: Pool) async throws -> Int {
    try await pool.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) AS rows_there FROM " + condition).first?.int("rows_there") ?? 0
    }
  }
}
