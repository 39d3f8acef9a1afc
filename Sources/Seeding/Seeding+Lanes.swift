import AppStore
import Database
import Ledger
import Runtime
import Synchronization
import Time

/// In bulk: a lane for each place leases whom it asks about, and never more than it soon can.
extension Seeding {
  private static let (shortPause, longPause) = (Interval.milliseconds(20), Interval.milliseconds(500))
  /// No more is leased than is asked about in this time.
  private static let leasedAhead = 30.0
  /// Where Apple is asked about all that is leased in this time, nobody need take it over: it is noted as begun.
  static let atOnce = Interval.milliseconds(100)

  /// Whoever calls it starts the lanes: nobody else may count a lane that does not run.
  func placesWithoutLane() -> [Place] {
    state.withLock { state in
      let lanes = state.access.values.flatMap { Self.places(of: $0) }.filter { !state.lanes.contains($0) }
      state.lanes.formUnion(lanes)
      return lanes
    }
  }

  static func places(of access: SeedingAccess) -> [Place] {
    access.environments.map { Place(app: access.app.id, environment: $0) }
  }

  /// Works in one place for as long as the app has a key and is in `record` there.
  func lane(_ place: Place) async {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled, state.withLock({ $0.access[place.app].map(Self.places)?.contains(place) ?? false }) {
        do {
          let leased = try await lease(in: place)
          for customer in leased { group.addTask { await self.askInBulk(about: customer, in: place) } }
          // So many rows were leased, of which a customer has several: there may be room for more.
          if !leased.isEmpty { continue }
        } catch {
          if !Task.isCancelled {
            logger.warning("work could not be leased; it is tried again", metadata: ["error": "\(error)"])
          }
        }
        let isBusy = state.withLock { $0.busy[place, default: 0] > 0 }
        try? await pacing.sleep(isBusy ? Self.shortPause : Self.longPause)
      }
      group.cancelAll()
    }
    state.withLock { _ = $0.lanes.remove(place) }
  }

  /// Asks in one place about everybody who is due, with the credentials that are known; how many customers.
  ///
  /// Those who were given back because the task was cancelled do not count.
  func round(in place: Place) async throws -> Int {
    let leased = try await lease(in: place)
    return await withTaskGroup(of: Bool.self) { group in
      for customer in leased { group.addTask { await self.askInBulk(about: customer, in: place) } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
  }

  /// Asks about a customer who was leased for it; false when they were given back.
  @discardableResult
  private func askInBulk(about customer: LeasedCustomer, in place: Place) async -> Bool {
    let wasAsked = await ask(about: customer, in: place, .bulk)
    state.withLock { $0.busy[place, default: 0] -= 1 }
    return wasAsked
  }

  private func lease(in place: Place) async throws -> [LeasedCustomer] {
    let now = clock.now()
    let (access, busy, isPaused) = state.withLock { state in
      (state.access[place.app], state.busy[place, default: 0], state.paused[place].map { $0.until > now } ?? false)
    }
    guard let access, !isPaused else { return [] }
    let rate = client.forecast(
      1, of: .getTransactionHistory, app: access.app.bundleID, in: place.environment
    ).perSecond
    let most = min(settings.concurrency, max(1, Int(min(rate * Self.leasedAhead, 1e6))))
    // Leasing costs the same for many: it waits until half of them have ended.
    let free = most - busy
    guard free > most / 2 else { return [] }
    let goesAtOnce = client.isOpen(
      to: free, within: Self.atOnce, of: .getTransactionHistory, app: access.app.bundleID, in: place.environment)
    let selection = WorkTable.Selection(place.scope, goesAtOnce: goesAtOnce)
    var leased: WorkTable.Lease
    // Where all that was due needs no asking, more may be due.
    repeat {
      leased = try await lease(selection, limit: free)
    } while leased.customers.isEmpty && leased.settled > 0 && !Task.isCancelled
    let customers = leased.customers
    state.withLock { $0.busy[place, default: 0] += customers.count }
    return customers
  }
}
