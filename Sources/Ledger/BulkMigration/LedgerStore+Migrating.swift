package import Database
import Purchases
import Signing
import Synchronization

extension LedgerStore {
  /// Writes a step in one transaction: its findings, counts, IDs and end position.
  ///
  /// Repetition changes nothing, since the part is then at that position.
  package func take(_ step: MigrationStep) async throws(DatabaseError) -> MigrationStep.Outcome {
    let headers = writtenHeaders.withLock { $0 }
    let stored = step.rows.map { row in
      row.entries.map { bodies.seal($0.message, sharesHeaders: $0.sharesHeaders) }
    }
    return try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      guard try MigrationJobTable.held(step.part.job, in: session) == .running else { return .halted }
      guard let place = try MigrationPartTable.held(step.part, in: session) else { return .lost }
      // The commit of unknown outcome succeeded.
      if place == step.end, place != step.part.place { return .written }
      guard place == step.part.place else { return .lost }
      try step.write(stored, knownHeaders: headers, in: session)
      return .written
    }
  }
}

extension MigrationStep {
  private typealias Counts = [MigrationAccountTable.CountScope: [MigrationOutcome: Int]]

  fileprivate func write(
    _ stored: [[BodyVault.Stored]], knownHeaders: Set<Digest>, in session: borrowing Session
  ) throws(DatabaseError) {
    let contents = zip(rows, stored).compactMap { row, stored in
      if case .content(let content) = row { (content, stored) } else { nil }
    }
    let rejects = rows.compactMap { row in if case .rejected(let reject) = row { reject } else { nil } }
    var counts: Counts = [:]
    let standings = try MigrationReceiptTable.note(contents.map(\.0), job: part.job, in: session)
    var (entries, sealed, ids): ([LedgerEntry], [BodyVault.Stored], [MigrationIDTable.New]) = ([], [], [])
    for ((content, stored), standing) in zip(contents, standings) {
      switch standing {
      case .new:
        counts[content.place, default: [:]][content.isUsable ? .usable : .withoutPurchases, default: 0] += 1
        if let app = content.place.app {
          ids += content.ids.map { MigrationIDTable.New(app: app, id: $0, isActive: content.isActive) }
        }
      case .furtherUser:
        counts[content.place, default: [:]][.duplicate, default: 0] += 1
        counts[content.place, default: [:]][.link, default: 0] += 1
      case .firstUser, .known: counts[content.place, default: [:]][.duplicate, default: 0] += 1
      }
      if standing != .known {
        entries += content.entries
        sealed += stored
      }
    }
    if !entries.isEmpty {
      _ = try Batch(entries, sealed).write(
        arrival: [UInt8].random(count: 16), knownHeaders: knownHeaders, quarantine: [:], heard: [], in: session)
    }
    for (place, count) in try MigrationIDTable.add(ids, job: part.job, in: session) {
      counts[place, default: [:]][.id, default: 0] += count
    }
    for reject in rejects { counts[reject.owner, default: [:]][.rejected(reject.reason), default: 0] += 1 }
    try MigrationRejectTable.add(rejects, of: part, in: session)
    try MigrationAccountTable.add(counts, job: part.job, part: part.number, in: session)
    try MigrationPartTable.advance(
      part, to: end, rows: rows.count, bytesRead: bytesRead, isEnd: isLast, in: session)
  }
}
