import Backfill
package import Database
package import Ledger
import Purchases
package import Signing
import Time

/// What a job would come to: its sources read as the job reads them, and nothing written.
package struct MigrationEstimate: Sendable {
  /// Of one app in one environment.
  package struct Figures: Hashable, Sendable {
    package var usable = 0
    package var ids = 0
    /// Customers to be asked about, at most: contents that name an id which none before them did.
    package var lookUps = 0
    /// Of these, the customers who probably have something that has not ended.
    package var active = 0
  }

  /// A rejected row, as an example.
  package struct Sample: Hashable, Sendable {
    package let reason: String
    package let file: String?
    /// From 1; 0 where the source has no lines, or the whole file is meant.
    package let line: Int
    /// Of a table's row.
    package let key: String?
  }

  /// `ids` are all open.
  package private(set) var accounts = MigrationCounts()
  package private(set) var places: [MigrationAccountTable.CountScope: Figures] = [:]
  package private(set) var samples: [Sample] = []
  package private(set) var crowd = CrowdedUsers()
  /// Whether every row was read.
  package private(set) var isWhole = true

  private var seen = DigestTable()
  /// The contents that any user brought, and each with every user.
  private var (owned, brought) = (DigestTable(), DigestTable())
  private var known = DigestTable()

  private static let mostSamples = 10
  private static let window = 6

  private init() {}

  /// - Parameters:
  ///   - limit: rows that are read at most; nil: all.
  ///   - rate: rows of a table that are read in a second at most; nil: no limit.
  @concurrent package static func make(
    of parts: [MigrationJobTable.NewPart], by judge: RowClassifier, _ keys: Keyring?, rows limit: Int?,
    perSecond rate: Int? = nil, pacing: TimeSource = .system
  ) async throws -> Self {
    var estimate = Self()
    var pace = RowRateLimiter()
    for (index, part) in parts.enumerated() {
      let leased = MigrationPart(
        job: 0, number: index + 1, source: part.source, sealed: part.sealed, size: part.size, place: .start, owner: [])
      var reader = try await SourceReader.open(leased, keys, mostRows: RowRateLimiter.mostRows(perSecond: rate))
      let result: Result<Bool, any Error>
      do {
        result = .success(
          try await estimate.read(&reader, judge, limit) { rows in
            let pause = pace.pause(rows, perSecond: rate, at: pacing.elapsed())
            if pause > .milliseconds(0) { try? await pacing.sleep(pause) }
          })
      } catch { result = .failure(error) }
      await reader.close()
      let isRead = try result.get()
      if let limit, estimate.accounts.rows >= limit {
        estimate.isWhole = isRead && index == parts.count - 1
        break
      }
    }
    return estimate
  }

  /// Whether the part was read to its end: it may have more rows than were to be read.
  private mutating func read(
    _ reader: inout SourceReader, _ judge: RowClassifier, _ limit: Int?, _ mayRead: (Int) async -> Void
  ) async throws -> Bool {
    var isRead = false
    while !isRead {
      var batches: [SourceBatch] = []
      while batches.count < Self.window {
        guard let batch = try await reader.next(mayRead) else {
          isRead = true
          break
        }
        batches.append(batch)
      }
      try Task.checkCancellation()
      let judged = await withTaskGroup(of: (Int, [PositionedRow]).self) { group in
        for (number, batch) in batches.enumerated() {
          group.addTask { (number, await judge.placed(batch, from: .start)) }
        }
        var judged = [[PositionedRow]](repeating: [], count: batches.count)
        for await (number, rows) in group { judged[number] = rows }
        return judged
      }
      for row in judged.joined() { take(row.row) }
      if let limit, accounts.rows >= limit { return isRead }
    }
    return true
  }

  private mutating func take(_ row: MigrationStep.Row) {
    accounts.rows += 1
    switch row {
    case .rejected(let reject):
      accounts.rejected[reject.reason, default: 0] += 1
      if samples.count < Self.mostSamples {
        samples.append(
          Sample(reason: reject.reason, file: reject.place.file, line: reject.line, key: reject.place.key))
      }
    case .content(let content):
      let isNewUser = isBroughtByNewUser(content)
      guard seen.insert(ReceiptDigest(content.digest.bytes)) else {
        accounts.duplicates += 1
        if isNewUser { accounts.links += 1 }
        return
      }
      guard content.isUsable else {
        accounts.withoutPurchases += 1
        return
      }
      accounts.usable += 1
      var figures = places[content.place] ?? Figures()
      figures.usable += 1
      let new = content.ids.count { id in
        let name = "\(content.place.app?.number ?? 0) \(id.environment?.rawValue ?? "") \(id.id)"
        return known.insert(ReceiptDigest(Digest.sha256(Array(name.utf8)).bytes))
      }
      accounts.ids += new
      figures.ids += new
      if new > 0 { figures.lookUps += 1 }
      if new > 0, new == content.ids.count, let user = content.user {
        let source = content.entry?.findings?.purchases.first?.source
        crowd.add(customerOf: user, isReceipt: source != nil && source != .signedV2)
      }
      if new > 0, content.isActive { figures.active += 1 }
      places[content.place] = figures
    }
  }

  /// Whether a user brings the content whom none before it did, and another user did.
  private mutating func isBroughtByNewUser(_ content: MigrationStep.Content) -> Bool {
    guard let user = content.user else { return false }
    let isFirst = owned.insert(ReceiptDigest(content.digest.bytes))
    return brought.insert(ReceiptDigest(Digest.sha256(content.digest.bytes + user.bytes).bytes)) && !isFirst
  }
}
