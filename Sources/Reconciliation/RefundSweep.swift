package import AppStore
import Database
package import Ledger
import Mappings
import Purchases
package import Runtime
package import Seeding
package import Signing
package import Time
import Wire

/// Asks Apple for the refunds of every customer who bought lately: of a refund whose V1 message was lost nothing else tells.
///
/// Get Refund History has a budget of its own; one customer after the other is asked about, each once in `every`, whichever
/// process does it. Doing it again, or being killed within, changes nothing.
package struct RefundSweep: Service {
  private let client: AppStoreClient
  private let ledger: LedgerStore
  private let keys: Keyring
  private let read: HistoryFetch.Read
  private let every: Interval
  private let metrics: ReconciliationMetrics
  private let clock: WallClock
  private let logger: Logger

  /// Apple refunds within 90 days; a period is bought up to a month before.
  private static let window = Interval.days(120)
  /// More than `--refund-sweep` takes.
  private static let longestPeriod = Interval.days(365)
  private static let sliceLength = 200
  /// After the start of a process, so that one that ends again and again does not look through the ledger each time.
  private static let delay = Duration.seconds(60)
  /// So many failures one after the other end a pass.
  private static let patience = 5

  package init(
    client: AppStoreClient, ledger: LedgerStore, keys: Keyring, every: Interval, metrics: MetricsRegistry,
    clock: WallClock, logger: Logger, read: @escaping HistoryFetch.Read
  ) {
    (self.client, self.ledger, self.keys, self.read) = (client, ledger, keys, read)
    (self.every, self.clock, self.logger) = (every, clock, logger)
    self.metrics = ReconciliationMetrics(metrics)
  }

  /// Looks through the ledger once a day, or more often if customers are asked about more often.
  package func run() async throws {
    let pause = Duration.milliseconds(min(Interval.hours(24), .milliseconds(every.milliseconds / 7)).milliseconds)
    try? await Task.sleep(for: Self.delay)
    while !Task.isCancelled {
      do {
        let keys = keys
        let places = try await ledger.pool.read { session throws(DatabaseError) in
          try ReconciliationTarget.recording(with: keys, in: session).places
        }
        for place in places where !Task.isCancelled { await tell(place) { try await sweep(place) } }
      } catch {
        if !Task.isCancelled { logger.warning("refunds were not asked for", metadata: ["error": "\(error)"]) }
      }
      try? await Task.sleep(for: pause)
    }
  }

  private func tell(_ place: ReconciliationTarget, _ sweep: () async throws -> Int) async {
    do {
      let count = try await sweep()
      guard count > 0 else { return }
      var metadata = place.metadata
      metadata["customers"] = "\(count)"
      logger.info("asked Apple for refunds", metadata: metadata)
    } catch {
      guard !Task.isCancelled else { return }
      var metadata = place.metadata
      metadata["error"] = "\(error)"
      logger.warning("the refunds of the other customers are asked for later", metadata: metadata)
    }
  }

  /// Asks about every customer whose turn it is; how many.
  package func sweep(_ place: ReconciliationTarget) async throws -> Int {
    // Who was asked about before has bought nothing since, or is called otherwise.
    let before = clock.now() - Self.window - Self.longestPeriod
    var isMore = true
    while isMore {
      isMore = try await ledger.pool.transaction(replayable: true) {
        [scope = place.scope] session throws(DatabaseError) in
        try RefundSweepTable.purge(askedBefore: before, in: scope, session)
      }
    }
    var (last, count, failures): (String?, Int, Int) = (nil, 0, 0)
    while let slice = try await ledger.slice(of: place.app, place.environment, after: last, limit: Self.sliceLength) {
      last = slice.originalTransactionIDs.last
      for (customer, original) in customers(of: slice).sorted(by: { $0.key < $1.key }) {
        try Task.checkCancellation()
        guard try await claim(customer, place) else { continue }
        do {
          let isRecorded = try await ask(original, place)
          try await note(customer, place, isAsked: isRecorded)
          failures = 0
          guard isRecorded else { continue }
          count += 1
          metrics.refundsAsked[place.labels].increment()
        } catch let failure as APIError {
          // A process that stops: the customer is due again as soon as the claim ends.
          if failure.code == .cancelled { throw failure }
          try await note(customer, place, isAsked: false)
          if !Self.isOfCustomer(failure) { failures += 1 }
          guard failures < Self.patience, await isWorthGoingOn(after: failure) else { throw failure }
        }
      }
    }
    return count
  }

  /// By the customer, an originalTransactionId to ask by: of whom something signed was bought lately and is not revoked.
  private func customers(of slice: CustomerSlice) -> [String: String] {
    let start = clock.now() - Self.window
    let signed = slice.purchases.filter(\.source.isSigned)
    var customers: [String: String] = [:]
    for purchase in Purchase.fold(signed, rules: Vocabulary.embedded.purchases.rules)
    where purchase.revocationDate == nil && purchase.purchaseDate.map({ $0 >= start }) ?? false {
      let original = purchase.key.originalTransactionID
      let customer = slice.customers[original] ?? original
      customers[customer] = min(customers[customer] ?? original, original)
    }
    return customers
  }

  private func claim(_ customer: String, _ place: ReconciliationTarget) async throws -> Bool {
    let (scope, every, now) = (place.scope, every, clock.now())
    return try await ledger.pool.transaction { session throws(DatabaseError) in
      try RefundSweepTable.claim(customer, in: scope, every: every, at: now, session)
    }
  }

  /// Notes that a customer was asked about; else they are due again in two days: a pass of the next day begins behind them.
  private func note(_ customer: String, _ place: ReconciliationTarget, isAsked: Bool) async throws {
    let now = clock.now()
    // Not at once: those behind them come first.
    let instant = isAsked ? now : now - every + min(every, .hours(48))
    try await withCancellationShield {
      try await change { [scope = place.scope] session throws(DatabaseError) in
        try RefundSweepTable.note(customer, askedAt: instant, in: scope, session)
      }
    }
  }

  private func change(_ body: @escaping @Sendable (borrowing Session) throws(DatabaseError) -> Void) async throws {
    try await ledger.pool.transaction(replayable: true, body)
  }

  /// Asks for a customer's refunds page by page, and records what Apple signed; whether the ledger took all of it.
  private func ask(_ id: String, _ place: ReconciliationTarget) async throws(APIError) -> Bool {
    var (revision, visited): (String?, Set<String>) = (nil, [])
    while true {
      let reply: APIResponse<RefundHistoryResponse>
      do throws(APIError) {
        reply = try await client.send(
          .refundHistory(of: id, revision: revision), as: place.credentials, in: place.api, .bulk)
      } catch {
        // Apple knows no such id, or the account is gone: there is nothing to tell of it.
        if HistoryJobDecision.isUnknown(error) || error.errorCode == 4_040_001 { return true }
        throw error
      }
      if !(reply.answer.signedTransactions ?? []).isEmpty {
        guard await read(reply.body, place.app, place.environment).record() else { return false }
      }
      guard reply.answer.hasMore == true, let next = reply.answer.revision, visited.insert(next).inserted else {
        return true
      }
      revision = next
    }
  }

  /// Whether it says nothing of how the next customer would fare.
  private static func isOfCustomer(_ failure: APIError) -> Bool {
    switch failure.code {
    case .refused, .malformedAnswer, .tooLarge, .endlessPaging: true
    case .rateLimited, .overBudget, .unauthorized, .noToken, .cancelled, .invalidCall, .unreachable, .untrusted,
      .interrupted, .serverFailed:
      false
    }
  }

  /// Waits until Apple or the budget says that calls may go on; false where the next customer would fare the same.
  private func isWorthGoingOn(after failure: APIError) async -> Bool {
    switch failure.code {
    case .rateLimited, .overBudget:
      let wait = min(max((failure.retryAt ?? clock.now()) - clock.now(), .seconds(1)), .minutes(10))
      try? await Task.sleep(for: .milliseconds(wait.milliseconds))
      return !Task.isCancelled
    case .unauthorized, .noToken, .cancelled, .invalidCall: return false
    case .refused: return failure.errorCode != nil && !HistoryJobDecision.isOfApp(failure)
    case .malformedAnswer, .tooLarge, .endlessPaging, .unreachable, .untrusted, .interrupted, .serverFailed: return true
    }
  }
}
