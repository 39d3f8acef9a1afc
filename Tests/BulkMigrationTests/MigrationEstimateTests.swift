@testable import BulkMigration

@Suite struct `The estimate of a migration` {
  /// Time that passes by sleeping alone.
  private final class Sleeper: Sendable {
    private let slept = Mutex(Int64(0))

    var milliseconds: Int64 { slept.withLock { $0 } }

    var pacing: TimeSource {
      TimeSource(
        elapsed: { .milliseconds(self.milliseconds) },
        sleep: { interval in self.slept.withLock { $0 += interval.milliseconds } }, random: { _ in 0 })
    }
  }

  @Test(arguments: [(40, Int64(2_000)), (nil, 0)])
  func `reads no more rows of a table in a second than was said`(rate: Int?, atLeast: Int64) async throws {
    let old = try await PrivateMariaDB.shared.database()
    let connection = try await Connection.open(old)
    try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE TABLE receipts_old (id INT NOT NULL PRIMARY KEY, receipt TEXT NULL)")
      for id in 1...100 { _ = try session.execute("INSERT INTO receipts_old VALUES (\(id), NULL)") }
    }
    await connection.close()
    let source = TableSource(
      address: DatabaseURL.withoutPassword(old), table: "receipts_old",
      columns: .init(key: "id", content: "receipt", userID: nil, app: nil), keyKind: .integer, condition: nil,
      estimate: nil)
    let judge = RowClassifier(
      intake: IngestDecider(adapter: MessageDecoder(verifier: SignedDataVerifier(roots: .apple))),
      directory: AppRegistrySnapshot(apps: [], tokens: [:]),
      claims: RowClassifier.JobDefaults(app: nil, environment: nil, receivedAt: Timestamp(1)))
    let sleeper = Sleeper()
    let estimate = try await MigrationEstimate.make(
      of: [source.part(password: nil, sealedWith: nil)], by: judge, nil, rows: nil, perSecond: rate,
      pacing: sleeper.pacing)
    #expect(estimate.accounts.rejected == ["empty": 100])
    #expect(rate == nil ? sleeper.milliseconds == 0 : sleeper.milliseconds >= atLeast, "\(sleeper.milliseconds)")
  }

  @Test func `counts the users who bring what another one brought`() async throws {
    let rows = ["alice", "bob", "bob", nil, "NULL"].map { (id: 2_000_000_900_000_001, user: $0) }
    let estimate = try await Self.estimate(of: rows)
    #expect(estimate.accounts.usable == 1, "\(estimate.accounts)")
    #expect(estimate.accounts.duplicates == 4)
    #expect(estimate.accounts.links == 1)
    #expect(estimate.crowd.count == 0)
  }

  @Test func `counts users who would get the purchases of too many customers`() async throws {
    let rows = (0..<240).map { number in
      (id: 2_000_000_900_000_000 + number, user: Optional(number < 99 ? "some" : number < 200 ? "many" : "u\(number)"))
    }
    let crowd = try await Self.estimate(of: rows).crowd
    #expect([crowd.count, crowd.largest] == [1, 101])
    var users = CrowdedUsers()
    for number in 0..<20 {
      users.add(customerOf: MigrationStep.Mark([UInt8](repeating: number < 9 ? 1 : 2, count: 16)), isReceipt: true)
    }
    #expect([users.count, users.largest] == [1, 11])
  }

  private static func estimate(of rows: [(id: Int, user: String?)]) async throws -> MigrationEstimate {
    let old = try await PrivateMariaDB.shared.database()
    let connection = try await Connection.open(old)
    try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE TABLE receipts_old (id INT NOT NULL PRIMARY KEY, receipt TEXT NULL, user TEXT NULL)")
      for (number, row) in rows.enumerated() {
        _ = try session.execute("INSERT INTO receipts_old VALUES (\(number), \("\(row.id)"), \(row.user.sqlValue))")
      }
    }
    await connection.close()
    let source = TableSource(
      address: DatabaseURL.withoutPassword(old), table: "receipts_old",
      columns: .init(key: "id", content: "receipt", userID: "user", app: nil), keyKind: .integer, condition: nil,
      estimate: nil)
    let app = App(id: App.ID(1), bundleID: "com.example.app", appAppleID: nil)
    let judge = RowClassifier(
      intake: IngestDecider(adapter: MessageDecoder(verifier: SignedDataVerifier(roots: .apple))),
      directory: AppRegistrySnapshot(apps: [app], tokens: [:]),
      claims: RowClassifier.JobDefaults(app: app, environment: nil, receivedAt: Timestamp(1)))
    return try await MigrationEstimate.make(
      of: [source.part(password: nil, sealedWith: nil)], by: judge, nil, rows: nil)
  }
}
