import Database
import Purchases
import Signing
import Support
import Testing
import Time

@testable import Ledger

/// What the statements of a bulk migration read, at two sizes of its job: the same for each step, however many rows it has
/// read already and however many ids wait.
@Suite struct `A migration reads` {
  @Test func `no more rows the more receipts there are`() async throws {
    let grown = try await GrownLedger()
    var first = 0
    for size in HotSizes.sizes {
      try await grown.grow(from: first, to: size)
      try await Self.addJobs(to: grown, from: first, to: size)
      try await grown.count()
      first = size
      try await Self.expectBounds(grown, size)
    }
    await grown.pool.close()
  }

  @Test(arguments: BelievedStatistics.allCases)
  func `no more rows where the server's statistics are`(_ statistics: BelievedStatistics) async throws {
    let size = HotSizes.sizes[1]
    try await statistics.during(size, growing: { try await Self.addJobs(to: $0, from: 0, to: size) }) {
      (grown: GrownLedger) in try await Self.expectBounds(grown, size)
    }
  }

  /// One job is settled, the next has as many ids that wait.
  private static let (settled, waiting) = (1, 2)
  private static let width = 32

  /// Adds both jobs, each with a receipt and an id for every customer: those of the second are not known to the ledger, and
  /// for every other one nobody said the environment.
  private static func addJobs(to grown: GrownLedger, from first: Int, to size: Int) async throws {
    let scope = grown.scope
    try await grown.pool.transaction { session throws(DatabaseError) in
      if first == 0 {
        for job in [settled, waiting] {
          let added = try MigrationJobTable.add(
            [], app: nil, environment: nil, settings: MigrationSettings(), by: "", at: GrownLedger.now, in: session)
          guard added == job else { throw DatabaseError(.column, "job \(added)") }
        }
      }
      _ = try session.execute(Backlog.numbers)
      let range: SQL = "FROM numbers WHERE n >= \(first) AND n < \(size)"
      for (job, state, digit) in [(settled, 2, "3"), (waiting, 0, "4")] {
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

  private static func expectBounds(_ grown: GrownLedger, _ size: Int) async throws {
    for (name, most, body) in steps(of: grown, size) {
      let read = try await RowsRead.during(grown.pool, body)
      guard let most else { continue }
      #expect(read.total <= most, "\(name) with \(size) receipts: \(read)")
    }
  }

  private typealias Step = (name: String, most: Int?, body: @Sendable (Session) throws(DatabaseError) -> Void)

  /// Each path in turn, the most rows that it may read (nil: not counted), and the path itself.
  private static func steps(of grown: GrownLedger, _ size: Int) -> [Step] {
    let (app, now) = (grown.app.id, GrownLedger.now)
    @Sendable func turn(
      allowance: Int?, handsOut expected: Int, _ session: Session
    ) throws(DatabaseError) {
      let turn = try MigrationHandOut(job: waiting, owner: [UInt8](repeating: 1, count: 16))
        .turn(backlog: width, allowance: allowance, until: now + .minutes(1), at: now, in: session)
      guard turn.handedOut == expected else { throw DatabaseError(.column, "\(turn)") }
    }
    @Sendable func answer(_ session: Session) throws(DatabaseError) {
      _ = try session.execute("UPDATE work SET state = 1 WHERE subject >= '4' AND subject < '6'")
    }
    // Half of them known: those of the other half are new each time.
    @Sendable func receipts(_ round: String) -> [MigrationStep.Content] {
      (0..<width).map { number in
        let text = number < width / 2 ? "\(size - 9 - number)" : "\(size) \(round) \(number)"
        return MigrationStep.Content(
          digest: MigrationStep.Mark(Digest.sha256(Array(text.utf8)).bytes),
          user: MigrationStep.Mark(Digest.sha256(Array("user \(round) \(number)".utf8)).bytes),
          place: MigrationAccountTable.Place(app: app, environment: .sandbox), entry: nil, ids: [], isActive: true)
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
    return [
      ("first receipts", nil, { session throws(DatabaseError) in try see("first", session) }),
      ("seeing receipts", 300, { session throws(DatabaseError) in try see("again", session) }),
      ("first ids", nil, { session throws(DatabaseError) in try add("0", session) }),
      ("adding ids", 200, { session throws(DatabaseError) in try add("1", session) }),
      (
        "first turn", nil,
        { session throws(DatabaseError) in
          try answer(session)
          try turn(allowance: nil, handsOut: 2 * width, session)
        }
      ),
      (
        "looking for answers", 400,
        { session throws(DatabaseError) in try turn(allowance: nil, handsOut: 0, session) }
      ),
      ("answers", nil, { session throws(DatabaseError) in try answer(session) }),
      (
        "handing out", 1_200,
        { session throws(DatabaseError) in try turn(allowance: nil, handsOut: 2 * width, session) }
      ),
      ("answers", nil, { session throws(DatabaseError) in try answer(session) }),
      (
        "handing out up to a limit", 1_400,
        { session throws(DatabaseError) in try turn(allowance: 10, handsOut: 10, session) }
      ),
    ]
  }
}
