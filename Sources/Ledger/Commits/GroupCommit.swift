package import Database
import Purchases
package import Time

/// Commits concurrent entries together, with one queue for each class, and returns each result separately.
///
/// Strangers' entries never wait in front of Apple's signed data (`CommitClass`).
package final class GroupCommit: Sendable {
  package struct Limits: Sendable {
    package var batch = 64
    /// The maximum number of statements, events and IDs in a batch.
    ///
    /// A single entry may have more. A transaction locks its rows: meanwhile, another class's message about the same
    /// customer waits.
    package var batchWeight = 1_024
    /// The same limit for strangers' entries, which may name customers of concurrent Apple notifications.
    package var batchWeightOfStrangers = 256
    /// The maximum number of waiting entries of a class.
    ///
    /// Above it, callers must retry later.
    package var waiting = 4_096
    /// The maximum bytes of the bodies of a class's entries without a result, those in flight included.
    package var waitingBytes = 64 << 20
    /// The number of concurrent batches of a class.
    ///
    /// Two half-full batches cost the database a quarter more than one full batch.
    package var lanes = 1
    /// The number of additional batches of a class while one is late because of a lock.
    ///
    /// Queues that strangers can fill get no additional batch, since it would use up the connections.
    package var spareLanes = 1
    package var lateAfter = Interval.milliseconds(100)
    /// The lock wait of a batch of strangers' entries, in whole seconds.
    ///
    /// Meanwhile it locks rows that Apple's notifications may need.
    package var lockWaitOfStrangers = Interval.seconds(1)

    package init() {}
  }

  package enum Failure: Error, Equatable, Sendable {
    case overloaded
    case stopping
    /// The app's stage has changed since the decision.
    ///
    /// Decide again.
    case stageChanged
    /// Less disk space than the headroom is free, or the database has no space.
    ///
    /// The transaction wrote nothing.
    case diskFull
    case database(DatabaseError)
  }

  /// The trust levels of the messages that a commit added to the outbox, by app and environment.
  package typealias News = [AppScope: Set<TrustLevel>]

  private let lines: [CommitClass: CommitQueue]
  private let disk: @Sendable () -> DiskSpaceLevel

  /// - Parameters:
  ///   - announce: called after each commit that added to the outbox. Must not block.
  ///   - written: called with the entries of each commit, with any result. Must not block.
  ///   - disk: the free space, read for each entry. Must not block.
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

  /// Creates a queue with any writer, for tests.
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

  package var depth: Int { lines.values.reduce(0) { $0 + $1.depth } }

  package var bytes: Int { lines.values.reduce(0) { $0 + $1.bytes } }

  /// Returns the result of the entry once it is committed.
  ///
  /// If the caller is cancelled before the commit begins, it gets `overloaded` and the entry is not written.
  package func append(_ entry: LedgerEntry) async throws(Failure) -> AppendResult {
    guard entry.isKept(at: disk()) else { throw .diskFull }
    guard let line = lines[entry.commitClass] else { throw .stopping }
    let appended = try await line.append(entry)
    if appended == .stageChanged { throw .stageChanged }
    return appended
  }

  /// Commits entries until cancelled.
  ///
  /// Then it accepts no more, commits the waiting ones and returns.
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
  /// The bytes of its body, for the limit of waiting bytes.
  package var size: Int { message.body.count }

  /// The approximate number of rows that its commit writes.
  package var weight: Int {
    guard case .accepted(let accepted) = content else { return 1 }
    let findings = accepted.findings
    return 1 + findings.purchases.count + findings.renewals.count + findings.events.count
      + findings.furtherAliases.count + findings.seeds.count
  }
}

extension DatabaseError {
  /// Whether one row may have caused the error.
  ///
  /// After other errors a separate retry would fail too.
  package var mayBeOneRow: Bool {
    if isDiskFull { return false }
    return switch code {
    case .duplicateKey, .tooLarge, .column, .other: true
    case .connectionLost, .connectionRefused, .accessDenied, .unknownDatabase, .tlsFailed, .timedOut, .deadlock,
      .lockWaitTimeout, .recordChanged, .nodeNotReady, .commitOutcomeUnknown, .misuse, .abandoned, .closed:
      false
    }
  }

  /// Whether separate commits may succeed: one entry caused the error, or waits for a lock.
  var splitsBatch: Bool { mayBeOneRow || code == .deadlock || code == .lockWaitTimeout }
}
