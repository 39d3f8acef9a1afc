@testable import Ledger

@Suite struct `A step of a migration` {
  private static func content(_ number: UInt8, of user: UInt8?, _ entry: LedgerEntry? = nil) -> MigrationStep.Row {
    .content(
      MigrationStep.Content(
        digest: MigrationStep.Mark([UInt8](repeating: number, count: 16)),
        user: user.map { MigrationStep.Mark([UInt8](repeating: $0, count: 16)) },
        place: MigrationAccountTable.CountScope(app: nil, environment: nil), entry: entry, ids: [], isActive: false))
  }

  /// The only part of a new job.
  private static func lease(_ fixture: LedgerFixture) async throws -> MigrationPart {
    let now = SignedStory.start
    let part = try await fixture.pool.transaction { session throws(DatabaseError) in
      let job = try MigrationJobTable.add(
        [.init(source: "", size: nil)], app: nil, environment: nil, settings: MigrationSettings(), by: "", at: now,
        in: session)
      return try MigrationPartTable.lease(
        job: job, until: now + .seconds(10), owner: [UInt8](repeating: 1, count: 16), at: now, in: session)
    }
    return try #require(part)
  }

  @Test func `notes which message holds a content, also one that came before the job`() async throws {
    let fixture = try await LedgerFixture()
    let story = try SignedStory(customers: 1, periods: 1)
    let entries = try story.messages.prefix(2).map { try story.entry($0, for: fixture.app) }
    #expect(try await fixture.ledger.append([entries[0]]) == [.stored])
    let part = try await Self.lease(fixture)
    let rows = [Self.content(1, of: nil, entries[0]), Self.content(2, of: 11, entries[1]), Self.content(3, of: nil)]
    let step = MigrationStep(part: part, rows: rows, end: SourcePosition(position: 1), bytesRead: 1, isLast: true)
    #expect(try await fixture.ledger.take(step) == .written)
    let messages = try await fixture.pool.read { session throws(DatabaseError) in
      var messages: [[UInt8]?] = []
      for row in try session.query("SELECT message FROM migration_receipts ORDER BY digest") {
        messages.append(try row.optionalBytes("message"))
      }
      return messages
    }
    #expect(messages == [entries[0].message.digest.bytes, entries[1].message.digest.bytes, nil])
    await fixture.pool.close()
  }

  @Test func `counts a further user of a content once, also where the same step brings both`() async throws {
    let fixture = try await LedgerFixture()
    var leased = try await Self.lease(fixture)
    let steps: [[(content: UInt8, user: UInt8?)]] = [
      [(1, 11), (1, 11), (1, 12), (2, nil), (2, 13)], [(1, 12), (2, 13), (2, 14), (3, 15), (1, 16)],
    ]
    for (index, rows) in steps.enumerated() {
      let step = MigrationStep(
        part: leased, rows: rows.map { Self.content($0.content, of: $0.user) },
        end: SourcePosition(position: Int64(index + 1)), bytesRead: 1, isLast: index == 1)
      #expect(try await fixture.ledger.take(step) == .written)
      // As after a commit of unknown outcome.
      if index == 0 { #expect(try await fixture.ledger.take(step) == .written) }
      leased.place = step.end
    }
    let job = leased.job
    let (accounts, firsts, further) = try await fixture.pool.read { session throws(DatabaseError) in
      var (firsts, further): ([[UInt8]], [[UInt8]]) = ([], [])
      for row in try session.query("SELECT first_user FROM migration_receipts WHERE job = \(job) ORDER BY digest") {
        firsts.append(try row.bytes("first_user"))
      }
      for row in try session.query("SELECT user FROM migration_links WHERE job = \(job) ORDER BY user") {
        further.append(try row.bytes("user"))
      }
      return (try MigrationAccountTable.read(job, in: session).all, firsts, further)
    }
    #expect(firsts.map(\.first) == [11, 13, 15])
    #expect(further.map(\.first) == [12, 14, 16])
    #expect(accounts.rows == 10 && accounts.withoutPurchases == 3 && accounts.duplicates == 7, "\(accounts)")
    #expect(accounts.links == 3 && accounts.balances, "\(accounts)")
  }

  /// Years old, and with a deadline twelve hours after the job began.
  @Test func `opens no consumption case for what a stored V1 body asks`() async throws {
    try await ClaimFixture.with { fixture in
      let findings = try fixture.event("CONSUMPTION_REQUEST", line: nil, at: 0)
      try await fixture.pool.read { [app = fixture.app] session throws(DatabaseError) in
        try ConsumptionPolicyTable.set(.fixed([:]), of: app, at: SignedStory.start, in: session)
      }
      for (number, isStored) in [true, false].enumerated() {
        let message = fixture.message("asked \(number)", at: 0)
        var entry = LedgerEntry(
          message,
          .accepted(
            LedgerEntry.AcceptedMessage(app: fixture.app.id, findings: findings, signedAt: nil, title: "test")))
        entry.queuesIDs = !isStored
        #expect(try await fixture.ledger.append([entry]) == [.stored])
        let cases = try await fixture.pool.read { session throws(DatabaseError) in
          try session.query("SELECT COUNT(*) AS n FROM consumption_requests").first?.int("n")
        }
        #expect(cases == (isStored ? 0 : 1))
      }
    }
  }
}
