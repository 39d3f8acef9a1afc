package import Database
package import HTTPClient
package import Ledger
package import Runtime
import Synchronization
package import Time

/// Sends what the outbox holds: in order for each customer, customers beside one another, until it is taken or too old.
///
/// At least once: a process that is killed after the destination answered sends again, under the same `webhook-id`. Any
/// number of processes may run it on one database. Each destination has a line of its own (`DestinationLine`), and each
/// class of messages a lane of its own in it. A commit that puts something into the outbox wakes its line at once; what
/// other processes take in, and what is tried again, is found by looking every quarter of a second.
package final class Delivery: Service {
  package struct Settings: Sendable {
    /// From the connection to the last byte of the answer.
    package var deadline = Interval.seconds(20)
    /// Longer than any attempt takes: what is leased for longer belonged to a process that is gone.
    package var lease = Interval.seconds(60)
    package var backoff = Backoff()
    /// Bytes of bodies that are held in each lane of a destination.
    package var bodyBytes = 8 << 20

    package init() {}
  }

  /// Sends a request; its status, or why there is none.
  package typealias Post = @Sendable (ClientRequest) async -> Attempt
  private let means: DestinationLine.Dependencies
  private let lines = Mutex<[Destination.ID: DestinationLine]>([:])

  /// How often it is looked what is due; a commit of this process does not wait for it.
  private static let lookPause = Interval.milliseconds(250)
  /// Milliseconds: where looking takes long, a fifth of the time is spent on it, but no longer is waited than this.
  private static let longestPause: Int64 = 2_000
  private static let sweepPause = Interval.seconds(5)
  /// Rows that one step of the sweep looks at.
  private static let sweptAtOnce = 500
  /// Lines that are at the database at once.
  private static let linesAtDatabase = 3

  package init(
    pool: Pool, bodies: BodyVault, settings: Settings = Settings(), post: @escaping Post,
    metrics: MetricsRegistry, clock: WallClock, pacing: TimeSource = .system, logger: Logger
  ) {
    means = DestinationLine.Dependencies(
      pool: pool, bodies: bodies, settings: settings, post: post, metrics: DeliveryMetrics(metrics), clock: clock,
      pacing: pacing, logger: logger, turnstile: Turnstile(Self.linesAtDatabase))
  }

  /// Posts over a client.
  package static func posting(over client: HTTPClient) -> Post {
    { request in
      do throws(HTTPClientError) { return Attempt(status: try await client.send(request).status) } catch {
        return .failed(.noAnswer(error.code))
      }
    }
  }

  /// Something was put into the outbox by this process: it is sent without waiting for the next look.
  package func wake(_ news: GroupCommit.News) {
    for line in lines.withLock({ Array($0.values) }) {
      if let classes = news[line.destination.scope] { line.wake(classes, isNew: true) }
    }
  }

  /// Sends until cancelled; attempts under way are then ended, and their leases given back.
  package func run() async throws {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.runSweep() }
      while !Task.isCancelled {
        let start = means.pacing.elapsed()
        for line in await look() { group.addTask { await line.run() } }
        let took = means.pacing.elapsed().milliseconds - start.milliseconds
        try? await means.pacing.sleep(max(Self.lookPause, .milliseconds(min(4 * took, Self.longestPause))))
      }
      group.cancelAll()
    }
  }

  /// Sends what is due now and waits for all of it; how many attempts were made.
  @discardableResult
  package func round() async -> Int {
    _ = await look()
    return await withTaskGroup(of: Int.self) { group in
      for line in lines.withLock({ Array($0.values) }) { group.addTask { await line.round() } }
      return await group.reduce(0, +)
    }
  }

  /// Looks what is due, and wakes the lines that have something to do; those that are new.
  private func look() async -> [DestinationLine] {
    let now = means.clock.now()
    var new: [DestinationLine] = []
    do throws(DatabaseError) {
      let work = try await means.pool.read { session throws(DatabaseError) in
        try OutboxTable.due(at: now, in: session)
      }
      for one in work {
        let (line, isNew) = line(of: one.destination)
        if isNew { new.append(line) }
        if !one.isEmpty { line.wake(one.due, isNew: false, needsSorting: one.needsSorting) }
      }
    } catch {
      if !Task.isCancelled {
        means.logger.warning("the outbox could not be read; it is tried again", metadata: ["error": "\(error)"])
      }
    }
    // A line that rests after a failure has leased rows, which are not due: nothing else would wake it.
    for line in lines.withLock({ Array($0.values) }) { line.wakeIfItHasToSettle() }
    return new
  }

  private func line(of destination: Destination) -> (DestinationLine, isNew: Bool) {
    lines.withLock { lines in
      if let line = lines[destination.id] {
        if line.destination != destination { line.update(destination) }
        return (line, false)
      }
      let line = DestinationLine(destination, means)
      line.update(destination)
      lines[destination.id] = line
      return (line, true)
    }
  }

  // MARK: The safety net

  private func runSweep() async {
    var cursors: [Destination.ID: OutboxTable.SweepCursor] = [:]
    while !Task.isCancelled {
      try? await means.pacing.sleep(Self.sweepPause)
      for line in lines.withLock({ Array($0.values) }) where line.destination.isEnabled && !Task.isCancelled {
        let destination = line.destination
        cursors[destination.id] = await sweep(line, after: cursors[destination.id])
      }
    }
  }

  /// Looks once at all that is blocked; how many rows were blocked without a reason.
  package func sweep() async -> Int {
    _ = await look()
    let before = means.metrics.unblocked
    for line in lines.withLock({ Array($0.values) }) {
      var cursor = await sweep(line, after: nil)
      while cursor != nil { cursor = await sweep(line, after: cursor) }
    }
    return means.metrics.unblocked - before
  }

  private func sweep(
    _ line: DestinationLine, after cursor: OutboxTable.SweepCursor?
  ) async -> OutboxTable.SweepCursor? {
    let (destination, now) = (line.destination, means.clock.now())
    do throws(DatabaseError) {
      let step = try await means.pool.transaction(replayable: true) { session throws(DatabaseError) in
        try OutboxTable.sweep(destination, after: cursor, limit: Self.sweptAtOnce, at: now, in: session)
      }
      if step.freed > 0 {
        means.metrics.noteUnblocked(step.freed)
        means.logger.warning(
          "messages were blocked without a reason; their delivery continues",
          metadata: ["count": "\(step.freed)", "destination": "\(destination.name)", "host": "\(destination.host)"])
        line.wake(Set(TrustLevel.allCases), isNew: false, needsSorting: true)
      }
      return step.next
    } catch {
      if !Task.isCancelled {
        means.logger.warning("blocked messages could not be looked at", metadata: ["error": "\(error)"])
      }
      return nil
    }
  }
}
