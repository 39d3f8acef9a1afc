package import Database
import JSON
package import Ledger
import LegacyAnswers
import Mappings
package import Purchases
package import Receipts
import Rollout
import Runtime
import Signing
package import Time

/// Responds to verifyReceipt from the ledger: decides whether a response is permitted, and composes it.
///
/// It has no HTTP code and no client: the caller asks Apple's verifyReceipt, and the given lookup asks the App Store
/// Server API.
package final class VerifyReceiptResponder: Sendable {
  package struct Settings: Sendable {
    /// The limit of a lookup with a waiting caller.
    package var lookUpWithin = Interval.seconds(5)
    /// The time for which an app's notification health is cached.
    package var flowKept = Duration.seconds(10)
    /// The age up to which stages apply that could not be read again, as in a suspended process.
    package var stagesTrusted = Duration.seconds(2)
    /// The limit of reading older stages again; then Apple is asked, except for apps in `complete`.
    package var stagesWithin = Duration.seconds(1)
    /// The limit of the decision in the stage `ramp`; then Apple is asked.
    package var rampWithin = Duration.seconds(1)
    /// The limit of Switchyard's whole response if Apple can be asked instead.
    package var answerWithin = Duration.seconds(8)
    /// The time without a database response after which Apple is asked, if possible.
    package var silence = Duration.milliseconds(1_200)
    /// Bytes of requests of each class of callers that wait to be parsed.
    package var waitingBytes = 32 << 20

    package init() {}
  }

  /// Looks up the IDs in time; returns the state of each, `nil` if Apple cannot be asked.
  package typealias LookUp =
    @Sendable (_ ids: [String], _ app: App, _ environment: Environment, _ limit: Interval) async throws
    -> [String: HistoryJobTable.State]?

  package struct Directory: Sendable {
    let current: @Sendable () -> AppRegistrySnapshot
    let hasCurrentStages: @Sendable (_ within: Duration) -> Bool
    let refreshed: @Sendable () async -> AppRegistrySnapshot

    /// - Parameter hasCurrentStages: false if a stage may have changed long ago without this process's knowledge.
    package init(
      current: @escaping @Sendable () -> AppRegistrySnapshot,
      hasCurrentStages: @escaping @Sendable (_ within: Duration) -> Bool = { _ in true },
      refreshed: @escaping @Sendable () async -> AppRegistrySnapshot
    ) {
      self.current = current
      self.hasCurrentStages = hasCurrentStages
      self.refreshed = refreshed
    }
  }

  static let idsAtOnce = 20

  let pool: Pool
  let directory: Directory
  let settings: Settings
  let memory: ResponseCache
  let receipts: ReceiptReader
  let lookUp: LookUp
  /// Receives the errors that prevented a local response, because the client gets only a status.
  let failed: @Sendable (any Error) -> Void
  let clock: WallClock
  let checks = StatusDecision()
  let composers: AnswerComposers
  let flows: NotificationHealthCache
  let turns = LookupRateLimiter()
  let large = OversizedCustomerCache()
  private let sharing = SingleFlight<Flight, CallOutcome>()
  let named: CallQueue
  let strangers: CallQueue

  /// Identical requests of one class of callers, so that named callers wait for no stranger's.
  private struct Flight: Hashable {
    let key: ResponseCacheKey
    let isNamed: Bool
    /// The secret of the request, because one secret may be right by now and another not.
    let password: Digest?
    let tokensApp: App.ID?
  }

  /// - Parameters:
  ///   - failed: receives the errors that prevented a local response.
  package init(
    pool: Pool, directory: Directory, reader: ReceiptReader, memory: ResponseCache,
    settings: Settings = Settings(), composers: AnswerComposers = AnswerComposers(), clock: WallClock,
    failed: @escaping @Sendable (any Error) -> Void = { _ in }, lookUp: @escaping LookUp
  ) {
    self.pool = pool
    self.directory = directory
    receipts = reader
    self.settings = settings
    self.lookUp = lookUp
    self.failed = failed
    self.clock = clock
    self.memory = memory
    self.composers = composers
    flows = NotificationHealthCache(kept: settings.flowKept)
    named = CallQueue(label: "answers", longestLine: settings.waitingBytes, mostOfApp: 8, mostOfCustomer: 8)
    strangers = CallQueue(
      label: "strangers' answers", longestLine: settings.waitingBytes, mostOfApp: 4, mostOfCustomer: 2)
  }

  package func answer(_ call: VerifyReceiptCall) async -> CallOutcome {
    let lane = call.isNamed ? named : strangers
    guard
      let posted = await lane.thread.run(
        size: call.body.count,
        { [receipts] in ParsedCall(call.body, reader: receipts, memory: lane.receipts) })
    else {
      // The app was not read: if Apple responds for other apps, this may be one of them.
      let apps = directory.current()
      let isOurs =
        apps.leavesNothingToApple(in: call.environment)
        && (directory.hasCurrentStages(settings.stagesTrusted) || !apps.asksVerifyReceipt(in: call.environment))
      return isOurs ? .answered(ComposedResponse(status: 21_005, in: call.environment)) : .passOn
    }
    let readAt = ContinuousClock.now
    guard let (place, apps) = await placed(posted, in: call.environment) else { return .passOn }
    let what = RoutedCall(call: call.about(place.app), posted: posted, place: place, apps: apps)
    let outcome: CallOutcome
    if let app = place.app, let flag = place.flag, flag.stage.asksVerifyReceipt {
      let isDivided = flag.stage.answers == .divided
      if isDivided, !(await isOurs(posted, app, flag, in: call.environment)) { return .passOn }
      let givenUp = CallOutcome.givenUp(AppScope(app: app.id, environment: call.environment))
      outcome = await withTimeout(until: { await self.patienceEnds() }, otherwise: givenUp) { await self.decide(what) }
      if isDivided, case .answered(let reply) = outcome, reply.isOwnFailure { return givenUp }
    } else {
      outcome = await decide(what)
    }
    guard case .answered(let reply) = outcome else { return outcome }
    // The app may have been rolled back during composition: a large customer waits in a queue, and a process can be
    // suspended.
    guard await isStillOurs(place, in: call.environment) else { return .passOn }
    return .answered(reply.about(SignedReceipt(posted), readAt: readAt))
  }

  /// Returns the app of a request's shared secret; `nil` without one, or if several apps have it.
  func app(ofSecretIn request: VerifyReceiptRequestBody, _ apps: AppRegistrySnapshot) -> App? {
    guard let secret = secret(in: request) else { return nil }
    let holders = apps.apps(withSecret: secret)
    return holders.count == 1 ? holders[0] : nil
  }

  /// Bytes; Apple's secrets have 32.
  private static let longestSecret = 1 << 10

  private func secret(in request: VerifyReceiptRequestBody) -> String? {
    request.password.flatMap { $0.utf8.count <= Self.longestSecret ? $0 : nil }
  }

  // MARK: The checks

  private func decide(_ what: RoutedCall) async -> CallOutcome {
    var found = what.posted.findings(asked: what.call.environment)
    found.isRegistered = what.place.app != nil
    if found.signsNoEnvironment, let app = what.place.app {
      do { found.environment = try await environment(of: what, app) } catch is AsyncSemaphore.Refusal {
        return what.failed(21_005)
      } catch {
        failed(error)
        return what.failed(21_009)
      }
    }
    if let row = checks.decide(found) { return what.outcome(of: row) }
    guard let app = what.place.app, let stage = what.place.flag, let receipt = what.posted.proven else {
      return what.failed(21_009)
    }
    found.secret = secret(of: what, app, what.apps)
    if found.secret != .right, receipt.holdsSubscription {
      // A new registration of another process: read again before a rejection.
      found.secret = secret(of: what, app, await directory.refreshed())
    }
    found.holdsSubscription = receipt.holdsSubscription
    if let row = checks.decide(found) { return what.outcome(of: row) }
    let scope = AppScope(app: app.id, environment: what.call.environment)
    let key = ResponseCacheKey(
      scope: scope, epoch: stage.epoch, receipt: what.posted.digest,
      excludesOldTransactions: what.posted.request.excludesOldTransactions,
      tellsSubscriptions: found.secret == .right, readings: what.apps.answerReadings(of: app))
    if let given = memory.answer(to: key, at: clock.now()) { return .answered(given) }
    let request = ValidatedCall(what, app, receipt, found, key: key)
    let flight = Flight(
      key: key, isNamed: what.call.isNamed,
      password: what.posted.request.password.map { .sha256(Array($0.utf8)) }, tokensApp: what.call.tokensApp?.id)
    return await sharing.value(of: flight) { await self.tell(request) }
  }

  /// Returns the environment with signed data of an iOS 6 receipt's purchase, preferring the requested one.
  private func environment(of what: RoutedCall, _ app: App) async throws -> Environment? {
    guard let id = what.posted.proven?.originalTransactionIDs.first else { return nil }
    func named() async throws -> Environment? {
      let found = try await environments(naming: id, of: app, what.call)
      if found.contains(what.call.environment) { return what.call.environment }
      return [Environment.production, .sandbox].first(where: found.contains)
    }
    if let known = try await named() { return known }
    guard !what.mayAskApple else { return nil }
    let customer = LookupRateLimiter.Customer(
      scope: AppScope(app: app.id, environment: what.call.environment), name: id, isNamed: what.call.isNamed)
    guard await looked(up: customer, [id], app) else { return nil }
    return try await named()
  }

  private func environments(naming id: String, of app: App, _ call: VerifyReceiptCall) async throws -> Set<Environment>
  {
    do throws(DatabaseError) {
      return try await pool.read { session throws(DatabaseError) in
        try LedgerStore.environments(naming: id, app: app, atMost: Self.ordinaryRows, in: session)
      }
    } catch {
      guard error.code == .tooLarge else { throw error }
    }
    return try await lane(of: call).large(id, in: AppScope(app: app.id, environment: call.environment)) {
      try await pool.read { session throws(DatabaseError) in
        try LedgerStore.environments(naming: id, app: app, in: session)
      }
    }
  }

  func secret(of what: RoutedCall, _ app: App, _ apps: AppRegistrySnapshot) -> RequestValidation.Secret {
    if apps.answerClients(of: app) == .token, what.call.tokensApp == app { return .right }
    guard apps.hasSecret(app) else { return .noneRegistered }
    guard what.posted.request.password != nil else { return .missing }
    guard let secret = secret(in: what.posted.request) else { return .wrong }
    return apps.accepts(secret, of: app) ? .right : .wrong
  }
}
