@Suite struct `A bulk migration in the ledger` {
  private let now = Timestamp(1_796_000_000_000)

  private func ledger(_ body: (Pool, Int) async throws -> Void) async throws {
    let pool = Pool(try await PrivateMariaDB.shared.database())
    let now = now
    let job = try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: now, in: session)
      return try MigrationJobTable.add(
        [.init(source: "{}", size: 10)], app: nil, environment: nil, settings: MigrationSettings(), by: "a test",
        at: now, in: session)
    }
    try await body(pool, job)
    await pool.close()
  }

  private func lease(_ job: Int, _ pool: Pool, by owner: UInt8, at now: Timestamp) async throws -> MigrationPart? {
    try await pool.transaction { session throws(DatabaseError) in
      try MigrationPartTable.lease(
        job: job, until: now + .seconds(10), owner: [UInt8](repeating: owner, count: 16), at: now, in: session)
    }
  }

  private func step(_ part: MigrationPart, to position: Int64, isLast: Bool = false) -> MigrationStep {
    let end = SourcePosition(position: position)
    let owner = MigrationAccountTable.CountScope(app: nil, environment: nil)
    let reject = MigrationStep.Reject(reason: "empty", line: 1, place: part.place, owner: owner)
    return MigrationStep(part: part, rows: [.rejected(reject)], end: end, bytesRead: position, isLast: isLast)
  }

  @Test func `counts a step once, and nothing of a process that lost its lease`() async throws {
    try await ledger { pool, job in
      let ledger = LedgerStore(pool: pool)
      var part = try #require(try await lease(job, pool, by: 1, at: now))
      #expect(try await lease(job, pool, by: 2, at: now + .seconds(9)) == nil)
      let first = step(part, to: 5)
      #expect(try await ledger.take(first) == .written)
      #expect(try await ledger.take(first) == .written, "done again, as after a commit of unknown outcome")
      part.place = SourcePosition(position: 5)
      let other = try #require(try await lease(job, pool, by: 2, at: now + .seconds(10)))
      #expect(other.place == part.place)
      #expect(try await ledger.take(step(part, to: 9)) == .lost)
      #expect(try await ledger.take(step(other, to: 10, isLast: true)) == .written)
      let accounts = try await pool.read { session throws(DatabaseError) in
        try MigrationAccountTable.read(job, in: session).all
      }
      #expect(accounts.rows == 2 && accounts.rejected == ["empty": 2] && accounts.balances)
      #expect(try await lease(job, pool, by: 3, at: now + .days(1)) == nil, "it is read to its end")
    }
  }

  @Test func `writes nothing while it is paused`() async throws {
    try await ledger { pool, job in
      let part = try #require(try await lease(job, pool, by: 1, at: now))
      let now = now
      func move(_ from: MigrationJob.State, _ to: MigrationJob.State) async throws -> Bool {
        try await pool.transaction { session throws(DatabaseError) in
          try MigrationJobTable.move(job, from: [from], to: to, at: now, in: session)
        }
      }
      #expect(try await move(.running, .paused))
      #expect(try await LedgerStore(pool: pool).take(step(part, to: 5)) == .halted)
      #expect(try await move(.running, .cancelled) == false)
      #expect(try await move(.paused, .running))
      #expect(try await LedgerStore(pool: pool).take(step(part, to: 5)) == .written)
    }
  }

  @Test(arguments: [("22-6", 23, true), ("22-6", 5, true), ("22-6", 6, false), ("9-17", 9, true), ("9-17", 17, false)])
  func `keeps to the hours of the day`(text: String, hour: Int, isWithin: Bool) throws {
    let hours = try #require(MigrationHours(text))
    #expect(hours.contain(Timestamp(1_796_000_000_000 / 86_400_000 * 86_400_000) + .hours(Int64(hour))) == isWithin)
    #expect(MigrationHours("25-1") == nil && MigrationHours("5-5") == nil && MigrationHours("x") == nil)
  }
}
