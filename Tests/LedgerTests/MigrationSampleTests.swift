import Database
import Ledger
import Purchases
import Signing
import Testing
import Time

@Suite struct `The sample of a migration` {
  /// As a job that began then stores it.
  private static func store(
    _ receipt: [UInt8], of app: App, at date: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    // The digest of a message is not its content's alone.
    let digest = Digest.sha256(receipt + [1]).bytes
    _ = try session.execute(
      """
      INSERT INTO inbox (digest, month, received_at, arrival, kind, app, environment, title, size)
      VALUES (\(digest), 1, \(date), 'arrival', \(InboxMessage.Kind.evidence.rawValue), \(app.id.number), 2,
        'receipt of 1', 1)
      """)
  }

  private static func note(_ receipt: [UInt8], of job: Int, in session: borrowing Session) throws(DatabaseError) {
    let mark = MigrationStep.Mark(Digest.sha256(receipt).bytes)
    _ = try session.execute(
      "INSERT INTO migration_receipts (job, digest, mark) VALUES (\(job), \(mark.bytes), 'mark')")
  }

  @Test func `finds receipts that an earlier job brought first, and tells which are its own`() async throws {
    let fixture = try await LedgerFixture()
    let (app, start) = (fixture.app, SignedStory.start)
    let receipts = ["both jobs", "the first alone", "the second alone", "a later job"].map { Array($0.utf8) }
    let dates = [start, start, start + .seconds(1), start + .days(1)]
    let (found, isOurs) = try await fixture.pool.transaction { session throws(DatabaseError) -> (Int, [Bool]) in
      for (receipt, date) in zip(receipts, dates) { try Self.store(receipt, of: app, at: date, in: session) }
      var jobs: [Int] = []
      for date in Set(dates).sorted() {
        jobs.append(
          try MigrationJobTable.add(
            [.init(source: "", size: nil)], app: nil, environment: nil, settings: MigrationSettings(), by: "", at: date,
            in: session))
      }
      for (receipt, job) in [(0, 0), (1, 0), (0, 1), (2, 1), (3, 2)] {
        try Self.note(receipts[receipt], of: jobs[job], in: session)
      }
      _ = try MigrationJobTable.move(jobs[1], from: [.running], to: .done, at: start + .seconds(2), in: session)
      guard let job = try MigrationJobTable.find(jobs[1], in: session) else { return (0, []) }
      let page = try MigrationSample.page(
        of: job, in: Scope(app: app.id, environment: .sandbox), after: [UInt8](repeating: 0, count: Digest.count),
        in: session)
      var isOurs: [Bool] = []
      for receipt in receipts { isOurs.append(try MigrationSample.isOf(job.id, receipt, in: session)) }
      return (page.receipts.count, isOurs)
    }
    // That of the later job cannot have been there first.
    #expect(found == 3)
    #expect(isOurs == [true, false, true, false])
  }
}
