@testable import Ledger

/// The paths of a bulk migration.
extension AnsweredLedger {
  /// The job that is settled, and the job whose IDs wait.
  private static let (settled, waiting) = (1, 2)
  private static let width = 32

  /// Adds two jobs with a receipt and an ID for each customer.
  ///
  /// The IDs of the second job are not in the ledger, and every other ID names no environment.
  func addJobs(from first: Int, to size: Int) async throws {
    let scope = grown.scope
    try await pool.transaction { session throws(DatabaseError) in
      if first == 0 {
        for job in [Self.settled, Self.waiting] {
          let added = try MigrationJobTable.add(
            [], app: nil, environment: nil, settings: MigrationSettings(), by: "", at: GrownLedger.now, in: session)
          guard added == job else { throw DatabaseError(.column, "job \(added)") }
        }
      }
      let range: SQL = "FROM \(Backlog.numbers(first, size))"
      for (job, state, digit) in [(Self.settled, 2, "3"), (Self.waiting, 0, "4")] {
        _ = try session.execute(
          """
          INSERT INTO migration_ids (job, app, environment, id, state, priority)
          SELECT \(job), \(scope.app.number), IF(n MOD 2, \(scope.environment.code), 0), CONCAT(\(digit), 100000 + n),
            \(state), 1 \(range)
          """)
        let digest: SQL = "LEFT(UNHEX(SHA2(n, 256)), 16)"
        _ = try session.execute(
          """
          INSERT INTO migration_receipts (job, digest, mark, first_user)
          SELECT \(job), \(digest), REPEAT('m', 8), REPEAT('u', 16) \(range)
          """)
        _ = try session.execute(
          "INSERT INTO migration_links (job, digest, user) SELECT \(job), \(digest), REPEAT('v', 16) \(range)")
      }
    }
  }

  func migrate(_ paths: PlanCounter) async throws {
    let size = paths.size
    let (app, now, waiting, width) = (grown.app.id, GrownLedger.now, Self.waiting, Self.width)
    @Sendable func turn(
      allowance: Int?, handsOut expected: Int, _ session: Session
    ) throws(DatabaseError) {
      let turn = try HistoryJobScheduler(job: waiting, owner: [UInt8](repeating: 1, count: 16))
        .turn(backlog: width, allowance: allowance, until: now + .minutes(1), at: now, in: session)
      guard turn.handedOut == expected else { throw DatabaseError(.column, "\(turn)") }
    }
    @Sendable func answer(_ session: Session) throws(DatabaseError) {
      _ = try session.execute("UPDATE work SET state = 1 WHERE subject >= '4' AND subject < '6'")
    }
    // Half of the receipts are known. The other half is new each time.
    @Sendable func receipts(_ round: String) -> [MigrationStep.Content] {
      (0..<width).map { number in
        let text = number < width / 2 ? "\(size - 9 - number)" : "\(size) \(round) \(number)"
        return MigrationStep.Content(
          digest: MigrationStep.Mark(Digest.sha256(Array(text.utf8)).bytes),
          user: MigrationStep.Mark(Digest.sha256(Array("user \(round) \(number)".utf8)).bytes),
          place: MigrationAccountTable.CountScope(app: app, environment: .sandbox), entry: nil, ids: [], isActive: true)
      }
    }
    @Sendable func add(_ round: String, _ session: Session) throws(DatabaseError) {
      let ids = (0..<width).map { number in
        // Odd ones are of the sandbox.
        let id = number < width / 2 ? "4\(100_000 + size - 9 - 2 * number)" : "5\(round)\(size)\(number)"
        return MigrationIDTable.New(app: app, id: MigrationStep.ID(environment: .sandbox, id: id), isActive: true)
      }
      let added = try MigrationIDTable.add(ids, job: waiting, in: session)
      guard added.values.reduce(0, +) == width / 2 else { throw DatabaseError(.column, "\(added)") }
    }
    @Sendable func see(_ round: String, _ session: Session) throws(DatabaseError) {
      let standings = try MigrationReceiptTable.note(receipts(round), job: waiting, in: session)
      guard standings == receipts(round).indices.map({ $0 < width / 2 ? .furtherUser : .new })
      else { throw DatabaseError(.column, "\(standings)") }
    }
    func first(_ body: @Sendable (Session) throws(DatabaseError) -> Void) async throws {
      _ = try await pool.transaction { session throws(DatabaseError) in try body(session) }
    }
    func path(_ name: String, most: Int, _ body: @Sendable (Session) throws(DatabaseError) -> Void) async throws {
      try await paths.transaction(name, most: most, growth: nil, body)
    }
    try await first { session throws(DatabaseError) in try see("first", session) }
    try await path("seeing receipts", most: 300) { session throws(DatabaseError) in try see("again", session) }
    try await first { session throws(DatabaseError) in try add("0", session) }
    try await path("adding IDs", most: 200) { session throws(DatabaseError) in try add("1", session) }
    try await first { session throws(DatabaseError) in
      try answer(session)
      try turn(allowance: nil, handsOut: 2 * width, session)
    }
    try await path("finding results", most: 400) { session throws(DatabaseError) in
      try turn(allowance: nil, handsOut: 0, session)
    }
    try await first(answer)
    try await path("handing out", most: 1_200) { session throws(DatabaseError) in
      try turn(allowance: nil, handsOut: 2 * width, session)
    }
    try await first(answer)
    try await path("handing out up to a limit", most: 1_400) { session throws(DatabaseError) in
      try turn(allowance: 10, handsOut: 10, session)
    }
  }
}
