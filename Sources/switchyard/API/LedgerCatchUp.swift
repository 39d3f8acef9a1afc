import Adapter
import AppStore
import Database
import Intake
import JSON
import Ledger
import Purchases
import Rollout
import Runtime
import Seeding
import Service
import Signing
import Time

/// Takes into the ledger what is true after a command changed something at Apple's, and tells the operator how that went.
///
/// Apple is asked for the customer's history at once, and its answers take the way of every look-up. Where that fails,
/// the look-up is queued for the service.
struct LedgerCatchUp: Sendable {
  let app: App
  let store: Ledger
  let credentials: AppCredentials
  let client: AppStoreClient
  let verifier: SignedDataVerifier
  let environment: APIEnvironment
  let terminal: Terminal

  /// Apple extends the subscriptions of a product one after the other; until then there is nothing new to ask for.
  private static let massDelay = Interval.minutes(15)

  private var scope: Scope { Scope(app: app.id, environment: Environment(environment)) }

  /// After a change of one purchase.
  func run(_ id: String) async {
    let now = WallClock.system.now()
    let access = SeedingAccess(app: app, credentials: credentials, environments: [environment])
    let failure: String
    let answers = answers
    let lookUp = HistoryLookUp(client: client) { body, app, environment in answers.read(body, app, environment) }
    switch await lookUp.run(id, of: access, in: environment) {
    case .found:
      terminal.note("ledger: stored what Apple shows now; switchyard explain \(app.bundleID) \(id)")
      return
    case .empty: failure = "Apple shows no purchase under \(id)"
    case .failed(let error): failure = "\(error)"
    case .refused(let code): failure = "Apple's answer was refused (\(code)) and is in quarantine"
    case .notRecorded: failure = "the ledger did not take Apple's answer"
    }
    terminal.note("ledger: not up to date yet: \(failure)")
    await queue([id], changedAt: now, due: now) { "ledger: the look-up of \(id) is queued; \($0)" }
  }

  /// After a change of every subscription to a product, which Apple makes in the background.
  ///
  /// - Parameter completedAt: when Apple had made all of it; nil while it may be under way.
  func run(product: String, completedAt: Milliseconds?) async {
    let now = WallClock.system.now()
    let due = completedAt == nil ? now + Self.massDelay : now
    do {
      var (count, last) = (0, nil as String?)
      repeat {
        let cursor = last
        let page = try await store.pool.read { [app, scope] session throws(DatabaseError) in
          try ChangedAtApple.subscribers(to: product, in: scope, of: app, beyond: now, after: cursor, session)
        }
        try await write(page.originals, changedAt: completedAt ?? now, due: due)
        (count, last) = (count + page.originals.count, page.last)
      } while last != nil && !Task.isCancelled
      guard count > 0 else { return terminal.note("ledger: no running subscription to \(product) is known here") }
      let when = completedAt == nil ? "due at \(due.iso8601)" : "due now"
      let who = try await whoAsks()
      terminal.note("ledger: look-ups of \(count) subscriptions are queued, \(when); \(who)")
    } catch {
      say(error)
    }
  }

  /// After Apple took an answer about consumption: its request needs no other.
  func noteAnswered(_ answer: JSONObject, about transactionID: String) async {
    let (now, scope) = (WallClock.system.now(), scope)
    do {
      let settled = try await store.pool.transaction(replayable: true) { session throws(DatabaseError) in
        try ConsumptionTable.noteAnswered(
          answer, about: transactionID, in: scope, because: "by switchyard api consumption", at: now, session)
      }
      if settled > 0 { terminal.note("ledger: Apple's consumption request of \(transactionID) is noted as answered") }
    } catch {
      terminal.note(
        "ledger: the consumption request could not be noted as answered: \(error)\n"
          + "next: `switchyard consumption decline \(transactionID) --reason 'answered by hand'`")
    }
  }

  /// Queues the look-up of a change of which it is not known whether Apple made it.
  func queueUnknown(_ id: String) async {
    let now = WallClock.system.now()
    await queue([id], changedAt: now, due: now) { "ledger: whether Apple made the change is looked up; \($0)" }
  }

  private func queue(
    _ ids: [String], changedAt: Milliseconds, due: Milliseconds, _ done: (String) -> String
  ) async {
    do {
      // A command that is stopped leaves the look-up behind.
      try await withCancellationShield { try await write(ids, changedAt: changedAt, due: due) }
      terminal.note(done(try await whoAsks()))
    } catch {
      say(error)
    }
  }

  private func write(_ ids: [String], changedAt: Milliseconds, due: Milliseconds) async throws {
    try await store.pool.transaction(replayable: true) { [scope] session throws(DatabaseError) in
      try ChangedAtApple.queue(ids, in: scope, changedAt: changedAt, due: due, session)
    }
  }

  /// What makes the look-ups that are queued.
  private func whoAsks() async throws -> String {
    let isRecording = try await store.pool.read { [scope] session throws(DatabaseError) in
      try FlagTable.all(in: session)[scope]?.stage.notifications == .record
    }
    return isRecording
      ? "`switchyard serve` makes it, or `switchyard seeds run --once`"
      : "it waits until the app is in record: `switchyard rollout set \(app.bundleID) record`"
  }

  private func say(_ error: any Error) {
    terminal.note(
      "ledger: the look-up could not be queued: \(error)\n"
        + "next: when the database answers, run `switchyard reconcile --app \(app.bundleID)`")
  }

  private var answers: AppleAnswers {
    let logger = Logger(
      label: "switchyard", level: .notice, handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
    return AppleAnswers(intake: Intake(adapter: Adapter(verifier: verifier)), clock: .system, logger: logger) {
      [store] entry in try await store.append([entry]).first ?? .stored
    }
  }
}
