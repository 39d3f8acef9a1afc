/// A ledger with an app in `shadow` for which everything is proven but what comparisons show.
struct ProvenApp {
  static let bundleID = "com.example.notes"

  let scope: AppScope
  private let connection: Connection

  init() async throws {
    connection = try await Connection.open(PrivateMariaDB.shared.database())
    let now = WallClock.system.now()
    let app = try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: now, in: session)
      return try AppTable.add(bundleID: Self.bundleID, appAppleID: nil, at: now, in: session)
    }
    let scope = AppScope(app: app.id, environment: .production)
    self.scope = scope
    for kind in [CredentialTable.Kind.apiKey, .sharedSecret] {
      try await execute(
        """
        INSERT INTO credentials (app, kind, name, issuer, sealed, created_at)
        VALUES (\(scope.app.number), \(kind.rawValue), 'a', '', 'x', 1)
        """)
    }
    // Today as well, which counts if midnight comes before the test ends.
    let today = Timestamp(now.sinceEpoch / 86_400_000 * 86_400_000)
    var days: [Timestamp: Completeness] = [:]
    for day in Int64(0)...2 { days[today - .days(day)] = Completeness(expected: 10, arrived: 10) }
    try await connection.transaction { [days] session throws(DatabaseError) in
      // A row counts that was written once its day was over.
      try CompletenessTable.put(days, .notifications, of: scope, at: now + .days(1), in: session)
    }
    try await setBack()
  }

  func close() async { await connection.close() }

  private func execute(_ statement: SQL) async throws {
    _ = try await connection.read { session throws(DatabaseError) in try session.execute(statement) }
  }

  /// Puts the app into `shadow`, whatever stage it has.
  private func setBack() async throws {
    try await execute("UPDATE flags SET stage = 'shadow', ramp_share = NULL, changed_at = 1")
  }

  /// Forgets every comparison.
  func forget() async throws { try await execute("DELETE FROM comparisons") }

  /// Adds comparisons as the shadow does, and returns the id of each; nil for a voice that was heard.
  func add(_ comparisons: [FaultyComparison]) async throws -> [Int64?] {
    let now = WallClock.system.now()
    let later = now + ShadowComparer.Settings().settlesAfter
    return try await connection.transaction { session throws(DatabaseError) in
      var ids: [Int64?] = []
      for comparison in comparisons {
        let isEqual = comparison.judgement.differences.isEmpty
        let id = try ComparisonTable.add(
          comparison.judgement, of: comparison.voice, epoch: 1, at: now, settlingAt: isEqual ? nil : later, in: session)
        ids.append(id)
      }
      return ids
    }
  }

  /// What `compare list --impact` shows without another limit.
  func affecting() async throws -> [ComparisonTable.Row] {
    try await connection.read { [scope] session throws(DatabaseError) in
      try ComparisonTable.list(of: scope, differing: true, affecting: true, limit: 100, in: session)
    }
  }

  /// What `rollout advance` would do.
  func plan(asking demand: RolloutEvidence.Requirements = .init()) async throws -> AdvanceRollout.Plan {
    try await AdvanceRollout(Self.bundleID, in: scope.environment, asking: demand).plan(
      at: WallClock.system.now(), on: connection)
  }

  /// Takes the step, and sets the app back; `EvidenceMissing` when it is not proven.
  func take(_ plan: AdvanceRollout.Plan) async throws -> [SetStage.Change] {
    let changes = try await AdvanceRollout(Self.bundleID, in: scope.environment).apply(
      plan, forced: false, by: AuditContext("kim"), at: WallClock.system.now(), on: connection)
    try await setBack()
    return changes
  }
}
