/// Customers whom no client asks about, as if each had been compared.
///
/// The clients ask about too few for the guard. What Apple says of a customer could change under them, but one customer's
/// receipt has one voice in 24 hours, and that is cast when the stage begins.
struct InjectedComparisons: Sendable {
  private static let difference =
    #"[{"path":"status","cause":"ourDefect","theirs":0,"ours":21006,"impact":{"product":"p"},"rule":"Y-001"}]"#

  /// Their numbers.
  let customers: Range<Int>
  /// Whether their access would have differed, for a defect of ours.
  let areAffected: Bool

  /// Notes all of them in one transaction, and says when it was committed.
  func add(to database: TestDatabase) async throws -> ContinuousClock.Instant {
    let now = WallClock.system.now()
    let judgement = ComparisonTable.Outcome(
      cause: areAffected ? "ourDefect" : ComparisonTable.equal, counts: areAffected,
      differences: areAffected ? Array(Self.difference.utf8) : [], impact: areAffected ? Array("{}".utf8) : nil)
    let pool = Pool(database.configuration)
    try await pool.transaction { session throws(DatabaseError) in
      for scope in try StageTable.all(in: session).keys where scope.environment == .sandbox {
        for number in customers {
          let name = [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 7, count: 14)
          _ = try ComparisonTable.add(
            judgement, of: .init(scope: scope, window: now, customer: name, receipt: name), epoch: 2, at: now,
            settlingAt: nil, in: session)
        }
      }
    }
    let committed = ContinuousClock.now
    await pool.close()
    return committed
  }
}
