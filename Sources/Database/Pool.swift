import Synchronization
package import Time

/// A limited number of connections, lent in the order of requests, to urgent callers first.
package final class Pool: Sendable {
  package struct Settings: Sendable, Equatable {
    /// The maximum number of connections, lent and idle.
    package var size = 8
    /// A caller's maximum wait for a connection before `timedOut`.
    package var waitLimit: Interval = .seconds(10)
    /// The maximum number of waiting callers.
    ///
    /// The next one immediately gets `timedOut`.
    package var waiterLimit = 10_000
    /// A connection that was idle for longer is pinged before it is lent, and so is every one after one broke.
    package var pingAfter: Interval = .seconds(15)
    /// A connection that was idle for longer is closed instead of lent.
    package var discardAfter: Interval = .minutes(5)
    package var retry = RetryPolicy()

    package init() {}
  }

  package struct Figures: Sendable, Equatable {
    package var inUse = 0
    package var idle = 0
    package var waiting = 0
    package var created = 0
    package var discarded = 0
    package var timedOut = 0
    package var retries = 0
  }

  package let settings: Settings
  private let configuration: DatabaseConfiguration
  private let pacing: TimeSource
  private let slots: Mutex<PoolState>
  private let retries = Atomic<Int>(0)

  package init(_ configuration: DatabaseConfiguration, settings: Settings = Settings(), pacing: TimeSource = .system) {
    self.configuration = configuration
    self.settings = settings
    self.pacing = pacing
    slots = Mutex(PoolState(size: max(1, settings.size), waiterLimit: settings.waiterLimit))
  }

  package var figures: Figures {
    var figures = slots.withLock { $0.figures }
    figures.retries = retries.load(ordering: .relaxed)
    return figures
  }

  /// Lends a connection for the duration of the body, and rethrows its error.
  ///
  /// A broken connection is closed, not lent again.
  package func withConnection<R: Sendable>(_ body: (Connection) async throws -> R) async throws -> R {
    let connection = try await borrow()
    do {
      let value = try await body(connection)
      await giveBack(connection)
      return value
    } catch {
      await giveBack(connection)
      throw error
    }
  }

  /// Runs the body in a transaction and commits it, with retries if it certainly did not happen.
  ///
  /// The body may run several times. After `commitOutcomeUnknown` it runs again only if `replayable`: the caller
  /// promises that repetition has the same result.
  ///
  /// - Parameters:
  ///   - isUrgent: whether it gets a connection before all callers that are not urgent.
  ///   - lockWait: the lock wait for a row, in whole seconds. `nil`: as in the configuration.
  ///   - givingUpOn: errors that are not retried, although they could be.
  package func transaction<R: Sendable>(
    replayable: Bool = false, isUrgent: Bool = false, lockWait: Interval? = nil,
    givingUpOn: Set<DatabaseError.Code> = [],
    _ body: @Sendable (Session) throws(DatabaseError) -> R
  ) async throws(DatabaseError) -> R {
    try await retrying(replayable: replayable, isUrgent: isUrgent, givingUpOn: givingUpOn) {
      connection throws(DatabaseError) in
      try await connection.transaction(lockWait: lockWait, body)
    }
  }

  /// Runs the body without a transaction, again if the connection was lost or the server requests it.
  ///
  /// Only for reads: a single writing statement may have happened before the connection was lost.
  package func read<R: Sendable>(
    _ body: @Sendable (Session) throws(DatabaseError) -> R
  ) async throws(DatabaseError) -> R {
    try await retrying(replayable: true) { connection throws(DatabaseError) in try await connection.read(body) }
  }

  /// Runs the body on a read-only snapshot of the tables from its beginning, with the retries of `read`.
  package func snapshot<R: Sendable>(
    _ body: @Sendable (Session) throws(DatabaseError) -> R
  ) async throws(DatabaseError) -> R {
    try await retrying(replayable: true) { connection throws(DatabaseError) in try await connection.snapshot(body) }
  }

  /// Runs the body for each item in a separate transaction on one connection, in one visit.
  ///
  /// Returns one result for each item. Transactions that certainly did not happen are retried one by one.
  package func transactions<Item: Sendable, R: Sendable>(
    replayable: Bool = false, _ items: [Item], _ body: @Sendable (Session, Item) throws(DatabaseError) -> R
  ) async throws(DatabaseError) -> [Result<R, DatabaseError>] {
    let connection = try await borrow()
    var results = await connection.transactions(items, body)
    await giveBack(connection)
    for (index, item) in items.enumerated() {
      guard case .failure(let error) = results[index], isWorthRetrying(error, replayable) else { continue }
      do throws(DatabaseError) {
        results[index] = .success(
          try await transaction(replayable: replayable) { session throws(DatabaseError) in try body(session, item) })
      } catch {
        results[index] = .failure(error)
      }
    }
    return results
  }

  /// Stops lending, fails waiting callers with `closed`, waits for lent connections, and closes all.
  package func close() async {
    let (idle, waiters) = slots.withLock { $0.close() }
    for waiter in waiters { waiter.resume(returning: .failure(Self.closed)) }
    for connection in idle { await connection.close() }
    await withCheckedContinuation { continuation in
      let isEmpty = slots.withLock { $0.whenEmpty(continuation) }
      if isEmpty { continuation.resume() }
    }
  }

  private static let closed = DatabaseError(.closed, "the pool is closed")

  private func isWorthRetrying(_ error: DatabaseError, _ replayable: Bool) -> Bool {
    error.isRetryable || (replayable && error.code == .commitOutcomeUnknown)
  }

  private func retrying<R: Sendable>(
    replayable: Bool, isUrgent: Bool = false, givingUpOn: Set<DatabaseError.Code> = [],
    _ body: (Connection) async throws(DatabaseError) -> R
  ) async throws(DatabaseError) -> R {
    let start = pacing.elapsed()
    var attempt = 1
    while true {
      do throws(DatabaseError) {
        return try await lending(isUrgent: isUrgent, body)
      } catch {
        let spent = Interval.milliseconds(pacing.elapsed().milliseconds - start.milliseconds)
        guard isWorthRetrying(error, replayable), !givingUpOn.contains(error.code), attempt < settings.retry.attempts,
          spent < settings.retry.within, !Task.isCancelled
        else { throw error }
        retries.add(1, ordering: .relaxed)
        let pause = pacing.random(settings.retry.backoff.ceiling(after: attempt).milliseconds)
        do { try await pacing.sleep(.milliseconds(pause)) } catch { throw DatabaseError(.timedOut, "cancelled") }
        attempt += 1
      }
    }
  }

  private func lending<R: Sendable>(
    isUrgent: Bool, _ body: (Connection) async throws(DatabaseError) -> R
  ) async throws(DatabaseError) -> R {
    let connection = try await borrow(isUrgent: isUrgent)
    let result: Result<R, DatabaseError>
    do throws(DatabaseError) { result = .success(try await body(connection)) } catch { result = .failure(error) }
    await giveBack(connection)
    return try result.get()
  }
}

extension Pool {
  /// Returns a connection that was recently alive, or a new one.
  private func borrow(isUrgent: Bool = false) async throws(DatabaseError) -> Connection {
    while true {
      switch try await turn(isUrgent: isUrgent) {
      case .open:
        do throws(DatabaseError) {
          let connection = try await Connection.open(configuration)
          slots.withLock { $0.opened() }
          return connection
        } catch {
          free { $0.failedToOpen() }
          throw error
        }
      case .use(let connection, let since, let isSuspect):
        let now = pacing.elapsed()
        let idle = Interval.milliseconds(now.milliseconds - since.milliseconds)
        let isOld = idle > settings.discardAfter
        if !isOld, await isAlive(connection, asking: isSuspect || idle > settings.pingAfter) { return connection }
        await connection.close()
        free { $0.discarded(isBroken: !isOld, at: now) }
      }
    }
  }

  private func isAlive(_ connection: Connection, asking: Bool) async -> Bool {
    guard !connection.isPoisoned else { return false }
    guard asking else { return true }
    do {
      try await connection.ping()
      return true
    } catch {
      return false
    }
  }

  private func giveBack(_ connection: Connection) async {
    let isBroken = connection.isPoisoned
    let isDone = slots.withLock { $0.isClosed } || isBroken
    if isDone { await connection.close() }
    let now = pacing.elapsed()
    free { isDone ? $0.discarded(isBroken: isBroken, at: now) : $0.returned(connection, at: now) }
  }

  private func free(_ change: (inout PoolState) -> PoolState.Action) {
    switch slots.withLock({ change(&$0) }) {
    case .none: return
    case .hand(let turn, let waiter): waiter.resume(returning: .success(turn))
    case .empty(let continuation): continuation.resume()
    }
  }

  /// Waits for a connection or the permission to open one.
  private func turn(isUrgent: Bool) async throws(DatabaseError) -> PoolState.Turn {
    let ticket: PoolState.Ticket
    switch slots.withLock({ $0.ask(isUrgent: isUrgent) }) {
    case .turn(let turn): return turn
    case .refused(let error): throw error
    case .wait(let number): ticket = number
    }
    // The time limit is a parallel task. The first of both removes the waiter from the queue.
    let outcome = await withTaskGroup(of: PoolState.Answer?.self) { group in
      group.addTask { await self.wait(ticket) }
      group.addTask {
        do { try await self.pacing.sleep(self.settings.waitLimit) } catch { return nil }
        self.giveUp(ticket, DatabaseError(.timedOut, "no connection became free in time"), isTimeout: true)
        return nil
      }
      var answer: PoolState.Answer?
      for await part in group {
        guard let part else { continue }
        answer = part
        group.cancelAll()
      }
      return answer
    }
    guard let outcome else { throw DatabaseError(.timedOut, "no connection became free in time") }
    return try outcome.get()
  }

  private func wait(_ ticket: PoolState.Ticket) async -> PoolState.Answer {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = slots.withLock { $0.wait(ticket, continuation) }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      giveUp(ticket, DatabaseError(.timedOut, "cancelled while waiting for a connection"), isTimeout: false)
    }
  }

  private func giveUp(_ ticket: PoolState.Ticket, _ error: DatabaseError, isTimeout: Bool) {
    let waiter = slots.withLock { $0.giveUp(ticket, error, isTimeout: isTimeout) }
    waiter?.resume(returning: .failure(error))
  }
}
