import Database
import HTTPClient
import Ledger
import Purchases
import Runtime
import Signing
import Synchronization
import Time

/// Sends what waits for one destination, beside the lines of the others.
///
/// It makes one turn after the other for as long as there is something to do: a turn notes what came of attempts and
/// leases the next rows in one transaction, while attempts go on. What decides is `LineState`.
final class DestinationLine: Sendable {
  /// What every line needs.
  struct Dependencies: Sendable {
    let pool: Pool
    let bodies: BodyVault
    let settings: Delivery.Settings
    let post: Delivery.Post
    let metrics: DeliveryMetrics
    let clock: WallClock
    let pacing: TimeSource
    let logger: Logger
    /// For what the lines do at the database.
    let turnstile: Turnstile
  }

  let means: Dependencies
  private let current: Mutex<Destination>
  let state: Mutex<LineState>
  let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  /// Attempts of a turn after which others are waited for.
  private static let smallTurn = 16
  private static let gathering = Interval.milliseconds(20)
  private static let pauseAfterFailure = Interval.milliseconds(250)

  init(_ destination: Destination, _ means: Dependencies) {
    self.means = means
    current = Mutex(destination)
    state = Mutex(LineState(mostBytes: means.settings.bodyBytes))
  }

  var destination: Destination { current.withLock { $0 } }

  /// Takes the destination as it is registered now.
  func update(_ destination: Destination) {
    current.withLock { $0 = destination }
    state.withLock { $0.enable(destination.isEnabled) }
  }

  /// Something may be due; `isNew` when it has just been put into the outbox.
  func wake(_ classes: Set<TrustLevel>, isNew: Bool, needsSorting: Bool = false) {
    state.withLock { $0.wake(classes, isNew: isNew, needsSorting: needsSorting) }
    signal.yield()
  }

  /// Goes on where settlements were put back, given back or failed to be written.
  func wakeIfItHasToSettle() {
    if state.withLock({ $0.hasToSettle }) { signal.yield() }
  }

  /// Sends until cancelled; attempts under way are then ended, and what is leased is given back.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await _ in signals {
        while !Task.isCancelled, let step = state.withLock({ $0.next(at: means.clock.now()) }) {
          await make(step)
          let works = state.withLock { $0.start() }
          for work in works { group.addTask { await self.attempt(startingWith: work) } }
          // A turn costs the database about the same whatever it holds: what comes within a moment shares the next one.
          if works.count < Self.smallTurn { try? await means.pacing.sleep(Self.gathering) }
        }
      }
      group.cancelAll()
    }
    state.withLock { $0.giveBack(TrustLevel.allCases) }
    // Out of the reach of cancellation: what the destination has taken is not to be sent again for want of a note.
    try? await withCancellationShield { await self.settle() }
  }

  /// Sends what is due now, as much as fits the slots, and waits for all of it; how many attempts were made.
  func round() async -> Int {
    var attempts = 0
    while let step = state.withLock({ $0.next(at: means.clock.now()) }) {
      await make(step)
      guard case .turn = step else { continue }
      let works = state.withLock { $0.start() }
      state.withLock { $0.giveBack(TrustLevel.allCases) }
      await withDiscardingTaskGroup { group in
        for work in works { group.addTask { await self.attempt(work) } }
      }
      attempts += works.count
      break
    }
    await settle()
    return attempts
  }

  // MARK: At the database

  private func make(_ step: LineState.Step) async {
    await means.turnstile.pass {
      switch step {
      case .sort: await sort()
      case .turn(let turn): await take(turn)
      }
    }
  }

  private func take(_ turn: OutboxTurn) async {
    let (id, now, start) = (destination.id, means.clock.now(), means.pacing.elapsed())
    let lease = OutboxTurn.Lease(owner: .random(count: 16), now: now, end: now + means.settings.lease)
    do throws(DatabaseError) {
      let outcome = try await means.pool.transaction { session throws(DatabaseError) in
        try OutboxTable.take(turn, at: id, lease, in: session)
      }
      let took = means.pacing.elapsed().milliseconds - start.milliseconds
      state.withLock { $0.note(outcome, of: turn, took: took, at: now) }
      await admit(outcome.leased)
    } catch {
      await write(turn.settlements, after: error)
      if !turn.wanted.isEmpty { tellUnread(error) }
    }
  }

  private func sort() async {
    let destination = destination
    do throws(DatabaseError) {
      let sorted = try await means.pool.transaction(replayable: true) { session throws(DatabaseError) in
        try OutboxTable.sort(at: destination, in: session)
      }
      state.withLock { $0.noteSorted(mayBeMore: sorted == OutboxTable.sortedAtOnce) }
    } catch {
      tellUnread(error)
    }
  }

  /// Writes what is settled, without leasing.
  private func settle() async {
    let turn = state.withLock { $0.settling() }
    if !turn.settlements.isEmpty { await take(turn) }
  }

  /// Writes settlements by themselves, after a turn with them has failed.
  ///
  /// What the leasing or one row spoiled is written without it, each alone if need be. What the database does not take
  /// now is kept and written later: deliveries until they are written, other outcomes for as long as the lease lasts.
  private func write(_ settlements: [Settlement], after failure: DatabaseError) async {
    guard !settlements.isEmpty else { return }
    guard failure.mayBeOneRow else { return putBack(settlements, failure) }
    do throws(DatabaseError) {
      try await write(settlements)
    } catch  where error.mayBeOneRow && settlements.count > 1 {
      for (index, settlement) in settlements.enumerated() {
        do throws(DatabaseError) {
          try await write([settlement])
        } catch  where error.mayBeOneRow {
          tellUnwritten(1, error)
        } catch {
          return putBack(Array(settlements[index...]), error)
        }
      }
    } catch  where error.mayBeOneRow {
      tellUnwritten(settlements.count, error)
    } catch {
      putBack(settlements, error)
    }
  }

  private func write(_ settlements: [Settlement]) async throws(DatabaseError) {
    let (id, now) = (destination.id, means.clock.now())
    let lease = OutboxTurn.Lease(owner: [], now: now, end: now)
    var turn = OutboxTurn()
    turn.settlements = settlements
    let outcome = try await means.pool.transaction(replayable: true) { [turn] session throws(DatabaseError) in
      try OutboxTable.take(turn, at: id, lease, in: session)
    }
    state.withLock { [turn] in $0.note(outcome, of: turn, took: 0, at: now) }
  }

  private func putBack(_ settlements: [Settlement], _ error: DatabaseError) {
    let now = means.clock.now()
    let lost = state.withLock { $0.putBack(settlements, until: now + Self.pauseAfterFailure, at: now) }
    if lost > 0 { tellUnwritten(lost, error) }
  }

  /// Reads the bodies of what was leased; what cannot be read now is given back.
  private func admit(_ leased: [LeasedDelivery]) async {
    guard !leased.isEmpty else { return }
    do throws(DatabaseError) {
      let bodies = try await bodies(leased.map(\.message))
      let proven = try await proven(among: leased.filter { $0.proof == .unproven }.map(\.sequence))
      state.withLock { state in
        state.admit(
          leased.filter { !proven.contains($0.sequence) }.map {
            LineState.Work(delivery: $0, body: bodies[$0.message] ?? .missing)
          })
        state.giveBack(leased.filter { proven.contains($0.sequence) })
      }
    } catch {
      state.withLock { $0.giveBack(leased) }
      tellUnread(error)
    }
  }

  /// Rows that were leased without proof and have one by now: they are tried for longer.
  private func proven(among sequences: [Int64]) async throws(DatabaseError) -> Set<Int64> {
    guard !sequences.isEmpty else { return [] }
    return try await means.pool.read { session throws(DatabaseError) in
      try OutboxTable.proven(among: sequences, in: session)
    }
  }

  /// A damaged one must not keep the others from being sent.
  private func bodies(_ digests: [Digest]) async throws(DatabaseError) -> [Digest: LineState.Body] {
    let (destination, vault) = (destination, means.bodies)
    return try await means.pool.read { session throws(DatabaseError) in
      let (messages, unreadable) = try BodyPage.read(digests) { part throws(DatabaseError) in
        Array(try OutboxTable.messages(part, for: destination, vault, in: session))
      }
      var bodies = Dictionary(unreadable.map { ($0.0, LineState.Body.unreadable) }) { first, _ in first }
      for (digest, message) in messages { bodies[digest] = .read(message.message.body) }
      return bodies
    }
  }

  // MARK: What is told

  private func tellUnread(_ error: DatabaseError) {
    let now = means.clock.now()
    state.withLock { $0.pause(until: now + Self.pauseAfterFailure) }
    guard !Task.isCancelled else { return }
    let destination = destination
    means.logger.warning(
      "the outbox could not be read; it is tried again",
      metadata: [
        "destination": "\(destination.scope.environment.rawValue) \(destination.host)", "error": "\(error)",
      ])
  }

  private func tellUnwritten(_ count: Int, _ error: DatabaseError) {
    means.logger.warning(
      "attempts could not be noted; they are made again", metadata: ["count": "\(count)", "error": "\(error)"])
  }
}
