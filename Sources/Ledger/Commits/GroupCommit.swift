package import Database
import Purchases
package import Time

/// Commits together what arrives together, and answers each for itself: a line for each class of entries.
///
/// What strangers can send never stands in line before what Apple signed (`CommitClass`).
package final class GroupCommit: Sendable {
  package struct Limits: Sendable {
    /// Entries committed together at most.
    package var batch = 64
    /// Statements, events and ids that the entries of a batch teach together; one entry alone may have more.
    ///
    /// A transaction locks what it writes: while it lasts, another class's message about the same customer waits.
    package var batchWeight = 1_024
    /// The same for what anybody can send, who may name customers of whom Apple posts at the same time.
    package var batchWeightOfStrangers = 256
    /// Entries of a class waiting at most; beyond that the answer is "try again later".
    package var waiting = 4_096
    /// Bytes of the bodies of all entries of a class that have no answer yet, those being committed included.
    package var waitingBytes = 64 << 20
    /// Batches of a class under way at once; two lanes of half-full batches cost the database a quarter more than one of
    /// full ones.
    package var lanes = 1
    /// Further batches of a class that may be under way while one is late: it waits for a lock, and others need not.
    ///
    /// Lines that anybody can fill have none: they would take the connections.
    package var spareLanes = 1
    /// From when on a batch is late.
    package var lateAfter = Interval.milliseconds(100)
    /// How long a batch of what anybody can send waits for a row, in whole seconds.
    ///
    /// Meanwhile it holds the rows that it has written already, of which Apple may be posting.
    package var lockWaitOfStrangers = Interval.seconds(1)

    package init() {}
  }

  /// Why an entry was not written.
  package enum Failure: Error, Equatable, Sendable {
    case overloaded
    case stopping
    /// The app's stage is not the one that was decided by: nothing was written, decide anew.
    case stageChanged
    /// The disk has less free than is to stay free, or the database found none: nothing was written.
    case diskFull
    case database(DatabaseError)
  }

  /// What a commit put into the outbox: classes of messages, by app and environment.
  package typealias News = [AppScope: Set<TrustLevel>]

  private let lines: [CommitClass: CommitQueue]
  private let disk: @Sendable () -> DiskSpaceLevel

  /// - Parameters:
  ///   - announce: told after each commit what it put into the outbox, if anything; must not block.
  ///   - written: told of the entries of each commit, whatever became of them; must not block.
  ///   - disk: how much room the database has, asked for each entry; must not block.
  package convenience init(
    _ ledger: LedgerStore, limits: Limits = Limits(), announce: @escaping @Sendable (News) -> Void = { _ in },
    written: @escaping @Sendable ([LedgerEntry]) -> Void = { _ in },
    disk: @escaping @Sendable () -> DiskSpaceLevel = { .ample }
  ) {
    self.init(
      limits: limits,
      write: { entries throws(DatabaseError) in
        let appended = try await ledger.append(batch: entries, limits: limits)
        written(entries)
        return appended
      },
      announce: announce, disk: disk)
  }

  /// For tests: anything that writes a batch.
  package init(
    limits: Limits = Limits(), write: @escaping @Sendable ([LedgerEntry]) async throws(DatabaseError) -> [AppendResult],
    announce: @escaping @Sendable (News) -> Void = { _ in }, disk: @escaping @Sendable () -> DiskSpaceLevel = { .ample }
  ) {
    self.disk = disk
    lines = Dictionary(
      uniqueKeysWithValues: CommitClass.allCases.map { commitClass in
        var limits = limits
        if commitClass.isOpenToStrangers {
          limits.spareLanes = 0
          limits.batchWeight = min(limits.batchWeight, limits.batchWeightOfStrangers)
        }
        return (commitClass, CommitQueue(limits: limits, write: write, announce: announce))
      })
  }

  /// Entries that wait for their commit.
  package var depth: Int { lines.values.reduce(0) { $0 + $1.depth } }

  /// Bytes of the bodies of all entries that have no answer yet.
  package var bytes: Int { lines.values.reduce(0) { $0 + $1.bytes } }

  /// What became of the entry, once it is committed.
  ///
  /// A caller that is cancelled before its entry's commit has begun gets `overloaded`, and nothing is written.
  package func append(_ entry: LedgerEntry) async throws(Failure) -> AppendResult {
    guard entry.isKept(at: disk()) else { throw .diskFull }
    guard let line = lines[entry.commitClass] else { throw .stopping }
    let appended = try await line.append(entry)
    if appended == .stageChanged { throw .stageChanged }
    return appended
  }

  /// Commits until cancelled; then takes nothing more, commits what still waits, and ends.
  package func run() async {
    await withDiscardingTaskGroup { group in
      for line in lines.values { group.addTask { await line.run() } }
    }
  }
}

extension GroupCommit.Failure {
  init(_ error: DatabaseError) { self = error.isDiskFull ? .diskFull : .database(error) }
}

extension LedgerEntry {
  /// What it counts for while it waits: its body's bytes.
  package var size: Int { message.body.count }

  /// About how many rows its commit writes.
  package var weight: Int {
    guard case .accepted(let accepted) = content else { return 1 }
    let findings = accepted.findings
    return 1 + findings.purchases.count + findings.renewals.count + findings.events.count
      + findings.furtherAliases.count + findings.seeds.count
  }
}

extension DatabaseError {
  /// Whether one row may have spoiled it for the others; after any other error each alone would only fail again, later.
  package var mayBeOneRow: Bool {
    if isDiskFull { return false }
    return switch code {
    case .duplicateKey, .tooLarge, .column, .other: true
    case .connectionLost, .connectionRefused, .accessDenied, .unknownDatabase, .tlsFailed, .timedOut, .deadlock,
      .lockWaitTimeout, .recordChanged, .nodeNotReady, .commitOutcomeUnknown, .misuse, .abandoned, .closed:
      false
    }
  }

  /// Whether the entries of a batch may fare better each alone: one spoiled it, or waits for a lock that the others do not need.
  var splitsBatch: Bool { mayBeOneRow || code == .deadlock || code == .lockWaitTimeout }
}
