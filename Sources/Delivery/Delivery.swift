package import Database
package import HTTPClient
package import Ledger
import Purchases
package import Runtime
import Signing
import Synchronization
package import Time

/// Sends what the outbox holds: in order for each customer, customers beside one another, until it is taken or too old.
///
/// At least once: a process that is killed after the destination answered sends again, under the same `webhook-id`. Any
/// number of processes may run it on one database.
package final class Delivery: Service {
  package struct Settings: Sendable {
    /// From the connection to the last byte of the answer.
    package var deadline = Interval.seconds(20)
    /// Longer than any attempt takes: what is leased for longer belonged to a process that is gone.
    package var lease = Interval.seconds(60)
    /// Attempts under way at once for each destination.
    package var concurrency = 32
    package var backoff = Backoff()

    package init() {}
  }

  /// Sends a request; its status, or why there is none.
  package typealias Post = @Sendable (ClientRequest) async -> Attempt
  /// The body as Apple posted it, secrets put back; throws when that is impossible now.
  package typealias Restore = @Sendable (StoredMessage) throws -> [UInt8]

  /// What goes on at one destination.
  private struct Lane {
    var circuit = Circuit()
    var busy = 0
  }

  private let pool: Pool
  private let settings: Settings
  private let post: Post
  private let restore: Restore
  private let metrics: DeliveryMetrics
  private let clock: WallClock
  private let pacing: Pacing
  private let logger: Logger
  private let lanes = Mutex<[Destination.ID: Lane]>([:])

  /// While something is under way, and while nothing is.
  private static let (shortPause, longPause) = (Interval.milliseconds(20), Interval.milliseconds(250))
  private static let longestPause = Interval.seconds(2)

  package init(
    pool: Pool, settings: Settings = Settings(), post: @escaping Post, restore: @escaping Restore,
    metrics: MetricsRegistry, clock: WallClock, pacing: Pacing = .system, logger: Logger
  ) {
    self.pool = pool
    self.settings = settings
    self.post = post
    self.restore = restore
    self.metrics = DeliveryMetrics(metrics)
    self.clock = clock
    self.pacing = pacing
    self.logger = logger
  }

  /// Posts over a client.
  package static func posting(over client: HTTPClient) -> Post {
    { request in
      do throws(HTTPClientError) { return Attempt(status: try await client.send(request).status) } catch {
        return .failed(.noAnswer(error.code))
      }
    }
  }

  /// Sends until cancelled; attempts under way are then ended, and their leases given back.
  package func run() async throws {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        let start = pacing.elapsed()
        let leased = await leaseAll()
        for work in leased { group.addTask { await self.deliver(work) } }
        let isBusy = !leased.isEmpty || lanes.withLock { $0.values.contains { $0.busy > 0 } }
        let spent = pacing.elapsed().milliseconds - start.milliseconds
        try? await pacing.sleep(Self.pause(isBusy: isBusy, searchedFor: spent))
      }
      group.cancelAll()
    }
  }

  /// Sends what is due now and waits for all of it; how many attempts were made.
  @discardableResult
  package func round() async -> Int {
    let leased = await leaseAll()
    await withDiscardingTaskGroup { group in
      for work in leased { group.addTask { await self.deliver(work) } }
    }
    return leased.count
  }

  /// How long nobody looks for what is due, after a search of so many milliseconds.
  ///
  /// Four times as long as the search took, two seconds at most: thousands that wait behind one refused message must
  /// not keep a database connection busy all the time.
  package static func pause(isBusy: Bool, searchedFor spent: Int64) -> Interval {
    max(isBusy ? shortPause : longPause, .milliseconds(min(spent * 4, longestPause.milliseconds)))
  }

  private struct Work: Sendable {
    let delivery: LeasedDelivery
    let destination: Destination
    /// Nil when it was purged or is damaged.
    let message: StoredMessage?
  }

  /// What can be sent now; a destination that cannot be searched keeps nothing of another's from being sent.
  private func leaseAll() async -> [Work] {
    var work: [Work] = []
    do throws(DatabaseError) {
      let destinations = try await pool.read { session throws(DatabaseError) in
        try OutboxTable.destinationsWithWork(in: session)
      }
      for destination in destinations {
        do throws(DatabaseError) { work += try await lease(from: destination) } catch {
          tellUnread(error, "\(destination.scope.environment.rawValue) \(destination.host)")
        }
      }
    } catch {
      tellUnread(error, "all")
    }
    return work
  }

  private func tellUnread(_ error: DatabaseError, _ destination: String) {
    guard !Task.isCancelled else { return }
    logger.warning(
      "the outbox could not be read; it is tried again",
      metadata: ["destination": "\(destination)", "error": "\(error)"])
  }

  private func lease(from destination: Destination) async throws(DatabaseError) -> [Work] {
    let now = clock.now()
    let limit = lanes.withLock { lanes in
      let lane = lanes[destination.id] ?? Lane()
      return lane.circuit.allowance(free: settings.concurrency - lane.busy, busy: lane.busy, at: now)
    }
    guard limit > 0 else { return [] }
    let (owner, end) = ([UInt8].random(count: 16), now + settings.lease)
    let leased = try await pool.transaction { session throws(DatabaseError) in
      try OutboxTable.lease(from: destination, limit: limit, until: end, owner: owner, at: now, in: session)
    }
    guard !leased.isEmpty else { return [] }
    let messages = try await messages(leased.map(\.message), for: destination)
    lanes.withLock { $0[destination.id, default: Lane()].busy += leased.count }
    return leased.map { Work(delivery: $0, destination: destination, message: messages[$0.message]) }
  }

  /// Those that can be read: a damaged one must not keep the others from being sent.
  private func messages(
    _ digests: [Digest], for destination: Destination
  ) async throws(DatabaseError) -> [Digest: StoredMessage] {
    do throws(DatabaseError) {
      return try await pool.read { session throws(DatabaseError) in
        try OutboxTable.messages(digests, for: destination, in: session)
      }
    } catch {
      guard error.code == .column else { throw error }
      var found: [Digest: StoredMessage] = [:]
      for digest in digests where digests.count > 1 {
        for (_, message) in try await messages([digest], for: destination) { found[digest] = message }
      }
      return found
    }
  }

  private func deliver(_ work: Work) async {
    let outcome = await attempt(work)
    // Out of the reach of cancellation: what the destination has taken is not to be sent again for want of a note.
    try? await withCancellationShield { await self.settle(work, outcome) }
    lanes.withLock { $0[work.destination.id, default: Lane()].busy -= 1 }
  }

  private func attempt(_ work: Work) async -> Attempt {
    // A database that was slow may have used the lease up: sent now, it could arrive after what another process sends.
    guard clock.now() + settings.deadline <= work.delivery.leasedUntil else { return .failed(.noAnswer(.cancelled)) }
    guard let message = work.message else { return .failed(.bodyMissing) }
    let body: [UInt8]
    do { body = try restore(message) } catch { return .failed(.notRestored) }
    let start = pacing.elapsed()
    let envelope = Envelope(work.delivery.message, body: body, to: work.destination)
    let outcome = await post(envelope.request(within: settings.deadline))
    metrics.noteAttempt(milliseconds: pacing.elapsed().milliseconds - start.milliseconds)
    return outcome
  }

  private func settle(_ work: Work, _ outcome: Attempt) async {
    let (delivery, now) = (work.delivery, clock.now())
    switch outcome {
    case .delivered:
      note(work.destination, succeeded: true, at: now)
      await write(work) { session throws(DatabaseError) in
        try OutboxTable.settleDelivered(delivery, at: now, in: session)
      }
      metrics.outcomes["delivered"].increment()
    case .failed(.noAnswer(.cancelled)), .failed(.noAnswer(.shutDown)):
      await write(work) { session throws(DatabaseError) in try OutboxTable.release([delivery], at: now, in: session) }
    case .failed(let reason):
      if reason.isOfDestination { note(work.destination, succeeded: false, at: now) }
      let isFinal = now >= delivery.expiresAt || reason == .bodyMissing
      let ceiling = settings.backoff.ceiling(after: delivery.attempt).milliseconds
      let due: Milliseconds? = isFinal ? nil : now + .milliseconds(pacing.random(ceiling))
      await write(work) { session throws(DatabaseError) in
        try OutboxTable.settleFailed(delivery, error: "\(reason)", retryAt: due, at: now, in: session)
      }
      metrics.outcomes[isFinal ? "dead" : "failed"].increment()
      tell(work, reason, isFinal)
    }
  }

  private func note(_ destination: Destination, succeeded: Bool, at now: Milliseconds) {
    let (before, after) = lanes.withLock { lanes in
      let before = lanes[destination.id, default: Lane()].circuit.isOpen
      if succeeded {
        lanes[destination.id, default: Lane()].circuit.noteSuccess()
      } else {
        lanes[destination.id, default: Lane()].circuit.noteFailure(at: now, random: pacing.random)
      }
      return (before, lanes[destination.id, default: Lane()].circuit.isOpen)
    }
    guard before != after else { return }
    logger.warning(
      after ? "a destination seems to be down; it is probed now and then" : "a destination is up again",
      metadata: ["destination": "\(destination.name)", "host": "\(destination.host)"])
  }

  private func tell(_ work: Work, _ reason: Attempt.Reason, _ isFinal: Bool) {
    let metadata: Logger.Metadata = [
      "message": "\(work.delivery.message.hex.prefix(12))", "host": "\(work.destination.host)",
      "attempt": "\(work.delivery.attempt)", "reason": "\(reason)",
    ]
    if isFinal {
      logger.error("given up; `switchyard outbox replay` sends it again", metadata: metadata)
    } else {
      logger.notice("not delivered; it is tried again", metadata: metadata)
    }
  }

  /// Without the note the lease ends by itself, and the message is sent again.
  private func write(_ work: Work, _ body: @Sendable (Session) throws(DatabaseError) -> Void) async {
    do throws(DatabaseError) {
      try await pool.transaction(replayable: true, body)
    } catch {
      logger.warning(
        "an attempt could not be noted; it is made again",
        metadata: ["message": "\(work.delivery.message.hex.prefix(12))", "error": "\(error)"])
    }
  }
}
