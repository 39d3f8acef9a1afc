import Database
import Testing
import Time

@testable import Ledger

@Suite struct `A step of a migration` {
  private static func content(_ number: UInt8, of user: UInt8?) -> MigrationStep.Row {
    .content(
      MigrationStep.Content(
        digest: MigrationStep.Mark([UInt8](repeating: number, count: 16)),
        user: user.map { MigrationStep.Mark([UInt8](repeating: $0, count: 16)) },
        place: MigrationAccountTable.Place(app: nil, environment: nil), entry: nil, ids: [], isActive: false))
  }

  @Test func `counts a further user of a content once, also where the same step brings both`() async throws {
    let fixture = try await LedgerFixture()
    let now = SignedStory.start
    let part = try await fixture.pool.transaction { session throws(DatabaseError) in
      let job = try MigrationJobTable.add(
        [.init(source: "", size: nil)], app: nil, environment: nil, settings: MigrationSettings(), by: "", at: now,
        in: session)
      return try MigrationPartTable.lease(
        job: job, until: now + .seconds(10), owner: [UInt8](repeating: 1, count: 16), at: now, in: session)
    }
    var leased = try #require(part)
    let steps: [[(content: UInt8, user: UInt8?)]] = [
      [(1, 11), (1, 11), (1, 12), (2, nil), (2, 13)], [(1, 12), (2, 13), (2, 14), (3, 15), (1, 16)],
    ]
    for (index, rows) in steps.enumerated() {
      let step = MigrationStep(
        part: leased, rows: rows.map { Self.content($0.content, of: $0.user) },
        end: MigrationPlace(position: Int64(index + 1)), bytesRead: 1, isLast: index == 1)
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
}
