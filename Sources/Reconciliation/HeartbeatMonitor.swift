package import AppStore
import Database
package import Ledger
import Runtime
package import Time
import Wire

/// Has Apple send a TEST notification now and then, and says so when it does not come back.
package struct HeartbeatMonitor: Sendable {
  let client: AppStoreClient
  let ledger: LedgerStore
  let every: Interval
  let within: Interval
  let clock: WallClock

  package init(client: AppStoreClient, ledger: LedgerStore, every: Interval, within: Interval, clock: WallClock) {
    self.client = client
    self.ledger = ledger
    self.every = every
    self.within = within
    self.clock = clock
  }

  /// What one look at a place came to.
  package enum Finding: Hashable, Sendable {
    /// Nothing is due.
    case waiting
    case asked
    case returned
    /// It did not come back, or Apple would not send it.
    case lost(String)
    /// None can come back there, for this reason, and none ever did: lost notifications are not noticed.
    case unwatched(String)
  }

  /// Settles the last heartbeat, or asks for the next when it is due.
  package func check(_ place: ReconciliationTarget) async throws -> Finding {
    let (now, scope) = (clock.now(), place.scope)
    let pending = try await ledger.pool.read { session throws(DatabaseError) in
      try HeartbeatTable.all(in: session).first { $0.scope == scope && $0.returnedAt == nil }
    }
    if let pending, let finding = try await settle(pending, place, at: now) { return finding }
    let (every, within) = (every, within)
    let isOurs = try await ledger.pool.transaction { session throws(DatabaseError) in
      try HeartbeatTable.claim(scope, every: every, within: within, at: now, in: session)
    }
    guard isOurs else { return .waiting }
    let token: String
    do throws(APIError) {
      token =
        try await client.send(.testNotification(), as: place.credentials, in: place.api)
        .answer.testNotificationToken ?? ""
    } catch {
      if Task.isCancelled {
        // Nobody refused it: this process ends, and the next one asks.
        try await withCancellationShield {
          try await write { session throws(DatabaseError) in
            try HeartbeatTable.release(scope, every: every, askedAt: now, in: session)
          }
        }
        return .waiting
      }
      if try await isBeforeRelease(error, place) {
        try await write { session throws(DatabaseError) in
          try HeartbeatTable.withdrawn(scope, askedAt: now, in: session)
        }
        return .waiting
      }
      if error.errorCode == Self.noURL, let reason = try await reasonNotToWatch(place, at: now) {
        return try await withdraw(scope, askedAt: now, because: reason)
      }
      return try await lose(scope, askedAt: now, because: "Apple sends none: \(error)")
    }
    try await write { session throws(DatabaseError) in
      try HeartbeatTable.sent(token, scope, askedAt: now, in: session)
    }
    return .asked
  }

  /// Nil while there is nothing to be said of it yet.
  private func settle(_ pending: Heartbeat, _ place: ReconciliationTarget, at now: Timestamp) async throws -> Finding? {
    let arrival = try await ledger.pool.read { session throws(DatabaseError) in
      try HeartbeatTable.arrival(for: pending, in: session)
    }
    if let arrival {
      try await write { session throws(DatabaseError) in
        try HeartbeatTable.returned(pending, at: arrival, in: session)
      }
      return .returned
    }
    // Of one that is known to be lost there is no news until the next is due.
    guard pending.dueBy <= now, pending.lostSince.map({ $0 > pending.askedAt }) ?? true else { return nil }
    let reason = await reason(pending, place)
    if reason == Self.notSent, try await hearsLegacy(place, now),
      let unwatched = try await reasonNotToWatch(place, at: now)
    {
      return try await withdraw(place.scope, askedAt: pending.askedAt, because: unwatched)
    }
    return try await lose(place.scope, askedAt: pending.askedAt, because: reason)
  }

  /// ServerNotificationUrlNotFoundError.
  private static let noURL: Int64 = 4_040_007
  private static let notSent = "Apple has not tried to send it"
  /// For how long a V1 notification says that Apple still sends them.
  private static let legacyKept = Interval.days(7)

  /// Why no test can come back in an environment where none ever did; nil where V2 notifications came once.
  private func reasonNotToWatch(_ place: ReconciliationTarget, at now: Timestamp) async throws -> String? {
    let scope = place.scope
    let wasWatched = try await ledger.pool.read { session throws(DatabaseError) in
      try HeartbeatTable.wasWatched(scope, session)
    }
    if wasWatched { return nil }
    return try await hearsLegacy(place, now)
      ? "Apple sends Notifications V1 there, which have no TEST"
      : "no URL for Notifications V2 is set in App Store Connect"
  }

  private func hearsLegacy(_ place: ReconciliationTarget, _ now: Timestamp) async throws -> Bool {
    let (scope, since) = (place.scope, now - Self.legacyKept)
    return try await ledger.pool.read { session throws(DatabaseError) in
      try HeartbeatTable.hearsLegacy(scope, since: since, session)
    }
  }

  private func withdraw(_ scope: AppScope, askedAt: Timestamp, because reason: String) async throws -> Finding {
    try await write { session throws(DatabaseError) in
      try HeartbeatTable.withdrawn(scope, askedAt: askedAt, because: reason, in: session)
    }
    return .unwatched(reason)
  }

  /// Whether Apple knows no such app in Production yet: there is nobody then of whom a notification could be missed.
  private func isBeforeRelease(_ failure: APIError, _ place: ReconciliationTarget) async throws -> Bool {
    guard failure.code == .unauthorized, place.api == .production else { return false }
    let scope = place.scope
    let hasPurchases = try await ledger.pool.read { session throws(DatabaseError) in
      try HeartbeatTable.hasPurchases(in: scope, session)
    }
    guard !hasPurchases else { return false }
    let diagnoses = await client.check(place.credentials)
    return diagnoses.contains { $0.environment == .production && $0.verdict == .noProductionRelease }
      && diagnoses.contains { $0.environment == .sandbox && $0.acceptsKey }
  }

  /// What Apple says became of it.
  private func reason(_ pending: Heartbeat, _ place: ReconciliationTarget) async -> String {
    guard let token = pending.token, !token.isEmpty else { return "Apple was asked for it, and no answer came" }
    do throws(APIError) {
      let status = try await client.send(.testNotificationStatus(token), as: place.credentials, in: place.api)
      let results = (status.answer.sendAttempts ?? []).compactMap(\.sendAttemptResult)
      return results.isEmpty
        ? Self.notSent
        : results.last == "SUCCESS"
          ? "a server took it that is not this one: compare the URL in App Store Connect"
          : "Apple says \(results.joined(separator: ", "))"
    } catch {
      return "it did not come, and Apple does not say why: \(error)"
    }
  }

  private func lose(_ scope: AppScope, askedAt: Timestamp, because reason: String) async throws -> Finding {
    try await write { session throws(DatabaseError) in
      try HeartbeatTable.lost(scope, askedAt: askedAt, because: reason, in: session)
    }
    return .lost(reason)
  }

  private func write(_ body: @Sendable (borrowing Session) throws(DatabaseError) -> Void) async throws {
    try await ledger.pool.transaction(replayable: true, body)
  }
}
