import Database
import Ledger
import Runtime
import Signing
import Synchronization
import Time

/// One job in one process: its parts are read one after the other, and its ids handed out, for as long as it runs.
struct MigrationWorker: Sendable {
  private let id: Int
  private let service: MigrationService
  private let owner = [UInt8].random(count: 16)
  private let state: WorkerState

  init(_ job: MigrationJob, _ service: MigrationService) {
    id = job.id
    self.service = service
    state = WorkerState(job)
  }

  /// Until the job does not run any more, or the task is cancelled.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await watch() }
      group.addTask { await read() }
      group.addTask { await handOut() }
      // The one that watches is the one that ends.
      await group.next()
      group.cancelAll()
    }
  }

  private var pool: Pool { service.pool }

  /// Reads the job every second, as an operator may have changed it; returns when it does not run any more.
  private func watch() async {
    while !Task.isCancelled {
      do {
        let (id, pool) = (id, pool)
        let (job, accounts) = try await pool.read { session throws(DatabaseError) in
          (try MigrationJobTable.find(id, in: session), try MigrationAccountTable.read(id, in: session).all)
        }
        service.metrics.note(accounts, of: id)
        guard let job, job.state == .running else { return }
        state.note(job)
      } catch {
        service.logger.warning("a migration could not be read", metadata: ["job": "\(id)", "error": "\(error)"])
      }
      try? await service.pacing.sleep(service.settings.pause)
    }
  }

  /// Whether nothing is to go on now although the job runs.
  private var isHeldUp: Bool {
    service.isFlagged || state.job.settings.hours.map { !$0.contain(service.clock.now()) } ?? false
  }

  // MARK: Reading

  private func read() async {
    while !Task.isCancelled {
      do {
        if !isHeldUp, let part = try await lease() {
          try await read(part)
          continue
        }
      } catch {
        if !Task.isCancelled {
          service.logger.warning("a migration's source", metadata: ["job": "\(id)", "error": "\(error)"])
        }
      }
      try? await service.pacing.sleep(service.settings.pause)
    }
  }

  private func lease() async throws(DatabaseError) -> MigrationPart? {
    let (now, unseen) = (service.clock.now(), state.unseen(at: service.pacing.elapsed()))
    let (id, owner, end) = (id, owner, now + service.settings.lease)
    return try await pool.transaction { session throws(DatabaseError) in
      try MigrationPartTable.lease(job: id, but: unseen, until: end, owner: owner, at: now, in: session)
    }
  }

  private func read(_ part: MigrationPart) async throws {
    let directory = await service.means.directory()
    let job = state.job
    let app = job.app.flatMap { id in directory.apps.first { $0.id == id } }
    let judge = RowClassifier(
      intake: service.means.intake, directory: directory,
      claims: RowClassifier.JobDefaults(app: app, environment: job.environment, receivedAt: job.createdAt))
    let run = PartImport(
      judge: judge,
      means: PartImport.Dependencies(take: { try await self.take($0) }, await: { await self.mayWrite($0) }),
      window: service.settings.window)
    do {
      let end = try await withThrowingTaskGroup(of: PartImport.End?.self) { group in
        group.addTask {
          let reader = try await SourceReader.open(
            part, service.means.keys, mostRows: RowRateLimiter.mostRows(perSecond: job.settings.rowsPerSecond))
          return try await run.run(part, reader)
        }
        group.addTask {
          await keep(part)
          return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? .halted
      }
      switch end {
      case .done, .lost?: return
      // Nil: the lease ended, or the task was cancelled and no longer renews it, which may come before reading has ended.
      case .halted?, nil: try await release(part, because: nil)
      }
    } catch {
      try await release(part, because: error)
    }
  }

  /// Makes the lease longer again and again; returns when it is another process's, or when the task is cancelled.
  private func keep(_ part: MigrationPart) async {
    while !Task.isCancelled {
      try? await service.pacing.sleep(service.settings.renewedEvery)
      let end = service.clock.now() + service.settings.lease
      let isOurs = try? await pool.transaction(replayable: true) { session throws(DatabaseError) in
        try MigrationPartTable.renew(part, until: end, in: session)
      }
      if isOurs == false { return }
    }
  }

  /// What is wrong with a source shows in the job's status, and it is tried again.
  private func release(_ part: MigrationPart, because error: (any Error)?) async throws {
    let isStop = Task.isCancelled || error is CancellationError
    let trouble = isStop ? nil : error.map { "\($0)" }
    if error is FileBatches.NotSeen {
      state.notSeen(part.number, until: service.pacing.elapsed().later(by: .seconds(15)))
    }
    let (pool, now) = (pool, service.clock.now())
    let isFatal = error is FileBatches.Changed || error is MigrationSource.Unknown
    let due = trouble == nil || error is FileBatches.NotSeen ? now : now + .seconds(10)
    try await withCancellationShield {
      try await pool.transaction(replayable: true) { session throws(DatabaseError) in
        try MigrationPartTable.release(part, because: trouble, until: due, in: session)
        if isFatal {
          _ = try MigrationJobTable.move(
            part.job, from: [.running], to: .failed, because: trouble, at: now, in: session)
        }
      }
    }
    if let trouble {
      service.logger.warning("a migration's source", metadata: ["job": "\(id)", "trouble": "\(trouble)"])
    }
  }

  private func take(_ step: MigrationStep) async throws -> MigrationStep.Outcome {
    let outcome = try await service.means.ledger.take(step)
    service.metrics.steps["\(outcome)"].increment()
    if outcome == .written { service.means.written(step.entries) }
    return outcome
  }

  /// Returns when so many rows may be written.
  private func mayWrite(_ rows: Int) async {
    while !Task.isCancelled, isHeldUp || service.means.disk() >= .scarce {
      try? await service.pacing.sleep(service.settings.pause)
    }
    let pause = state.rowPause(rows, at: service.pacing.elapsed())
    if pause > .milliseconds(0) { try? await service.pacing.sleep(pause) }
  }

  // MARK: Handing out

  /// More ids than this are looked at less often.
  private static let many = 1_024

  private func handOut() async {
    let handOut = HistoryJobScheduler(job: id, owner: owner)
    let pool = pool
    while !Task.isCancelled {
      var pause = service.settings.turns
      do {
        if isHeldUp {
          pause = service.settings.pause
        } else {
          let turn = try await turn(handOut)
          if turn.isElsewhere {
            pause = service.settings.renewedEvery
          } else if state.job.settings.callsPerSecond == nil, turn.asked > Self.many {
            // Each turn reads all of them, and several seconds of them are handed out.
            pause = service.settings.pause
          }
        }
      } catch {
        if !Task.isCancelled {
          service.logger.warning("a migration's ids", metadata: ["job": "\(id)", "error": "\(error)"])
        }
      }
      try? await service.pacing.sleep(pause)
    }
    try? await withCancellationShield {
      try await pool.transaction(replayable: true) { session throws(DatabaseError) in
        try handOut.release(in: session)
      }
    }
  }

  private func turn(_ handOut: HistoryJobScheduler) async throws(DatabaseError) -> HistoryJobScheduler.Turn {
    let (now, elapsed) = (service.clock.now(), service.pacing.elapsed())
    let (backlog, allowance) = (state.backlog, state.allowance(at: elapsed))
    let (id, end) = (id, now + service.settings.lease)
    let pacing = service.pacing
    let (turn, countedAt) = try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      // A turn may have waited for a connection.
      let countedAt = pacing.elapsed()
      let turn = try handOut.turn(backlog: backlog, allowance: allowance, until: end, at: now, in: session)
      if turn.isDone { _ = try MigrationJobTable.move(id, from: [.running], to: .done, at: now, in: session) }
      return (turn, countedAt)
    }
    state.note(turn, at: countedAt)
    return turn
  }
}

extension MigrationStep {
  fileprivate var entries: [LedgerEntry] {
    rows.compactMap { row in if case .content(let content) = row { content.entry } else { nil } }
  }
}

extension Interval {
  /// Of a time since some fixed moment.
  fileprivate func later(by other: Interval) -> Interval { .milliseconds(milliseconds + other.milliseconds) }
}
