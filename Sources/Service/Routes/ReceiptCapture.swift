import Adapter
import Database
package import HTTPServer
package import Intake
package import Ledger
package import Purchases
import Rollout
package import Runtime
package import Signing
import Synchronization
package import Time

/// Keeps proven receipts that are posted to verifyReceipt while Apple is not asked: by them ids of restores, and of purchases
/// of which no notification has told yet, go on arriving.
///
/// Strangers cannot fill the disk by it. A receipt is kept only if its signature is verified, its app is registered, and it
/// tells of a purchase or an id of which nothing signed is known; of each address only at a rate. Every other one is counted.
package final class ReceiptCapture: Sendable {
  package struct Settings: Sendable {
    /// How many receipts of one address are kept, and how soon further ones are.
    package var allowance: SenderRateLimiter.Settings
    /// Receipts that are remembered as known, so that nobody asks the database about them again.
    package var remembered = 16_384
    /// Bytes of receipts of a class of callers that are being looked at; more are not.
    package var bytesAtOnce = 32 << 20

    package init() {
      allowance = SenderRateLimiter.Settings()
      (allowance.burst, allowance.refill) = (200, .seconds(1))
    }
  }

  /// What became of a receipt; the names are a metric's labels.
  package enum Outcome: String, Sendable, CaseIterable {
    case stored
    /// It is in the inbox already.
    case duplicate
    /// It tells of nothing new.
    case known
    /// Its sender has had too many kept.
    case rate
    case unproven
    case unknownApp
    /// Nothing is kept of the app in this environment.
    case stageLegacy
    case overloaded
    case failed
  }

  /// A receipt as it was posted.
  package struct Posted: Sendable {
    /// In base64, without anything else of the request.
    package let text: String
    /// Of the text.
    package let digest: Digest
    package let bundleID: String
    /// Of the endpoint.
    package let environment: Environment
    /// Nil for callers that have no limit of their own.
    package let sender: PeerAddress?

    package init(
      _ text: String, _ digest: Digest, of bundleID: String, in environment: Environment, from sender: PeerAddress?
    ) {
      self.text = text
      self.digest = digest
      self.bundleID = bundleID
      self.environment = environment
      self.sender = sender
    }
  }

  private let intake: IngestDecider
  private let ledger: LedgerStore
  private let registry: AppRegistry
  private let commit: GroupCommit
  private let allowance: SenderRateLimiter
  private let settings: Settings
  private let metrics: ServiceMetrics
  private let clock: WallClock
  private let logger: Logger
  private let known: Mutex<RecentReceipts>
  private let failedPace = LogRateLimiter()
  private let named = Lane(label: "posted receipts")
  private let strangers = Lane(label: "strangers' posted receipts")

  /// Receipts of a class of callers that are being looked at: those who are named wait for no stranger's.
  private final class Lane: Sendable {
    let bytes = Mutex(0)
    /// Signatures are verified there, one at a time: the threads that serve connections are Apple's too.
    let thread: WorkerThread

    init(label: String) { thread = WorkerThread(label: label) }
  }

  package init(
    intake: IngestDecider, ledger: LedgerStore, registry: AppRegistry, commit: GroupCommit,
    settings: Settings = Settings(),
    metrics: ServiceMetrics, clock: WallClock, logger: Logger
  ) {
    self.intake = intake
    self.ledger = ledger
    self.registry = registry
    self.commit = commit
    self.settings = settings
    allowance = SenderRateLimiter(settings.allowance)
    known = Mutex(RecentReceipts(atMost: settings.remembered))
    self.metrics = metrics
    self.clock = clock
    self.logger = logger
  }

  /// Looks at a receipt beside the client, who does not wait for it.
  ///
  /// What a stop of the process takes with it is posted again: old clients send the same receipt again and again.
  package func take(_ posted: Posted) {
    // Most are sent again and again: those cost no task.
    switch precheck(posted) {
    case .settled(let outcome): count(outcome)
    case .open: Task { await taken(posted) }
    }
  }

  /// Keeps a receipt if it tells of something new; returns what became of it, once that is committed.
  @discardableResult
  package func taken(_ posted: Posted) async -> Outcome {
    let outcome =
      switch precheck(posted) {
      case .settled(let outcome): outcome
      case .open(let app): await outcome(of: posted, app)
      }
    count(outcome)
    return outcome
  }

  private func count(_ outcome: Outcome) { metrics.postedReceipts[outcome.rawValue].increment() }

  /// What can be said of a receipt without reading it.
  private enum Precheck {
    case settled(Outcome)
    case open(App)
  }

  private func precheck(_ posted: Posted) -> Precheck {
    guard let app = registry.directory[posted.bundleID] else { return .settled(.unknownApp) }
    let scope = AppScope(app: app.id, environment: posted.environment)
    guard let stage = registry.directory.flag(of: scope)?.stage, stage.notifications == .record else {
      return .settled(.stageLegacy)
    }
    let isKnown = known.withLock { $0.contains(RecentReceipts.Name(scope: scope, digest: posted.digest)) }
    return isKnown ? .settled(.known) : .open(app)
  }

  private func outcome(of posted: Posted, _ app: App) async -> Outcome {
    let text = Array(posted.text.utf8)
    let lane = posted.sender == nil ? named : strangers
    let isRoom = lane.bytes.withLock { bytes in
      guard bytes + text.count <= settings.bytesAtOnce else { return false }
      bytes += text.count
      return true
    }
    guard isRoom else { return .overloaded }
    defer { lane.bytes.withLock { $0 -= text.count } }
    let outcome = await kept(text, posted, of: app, on: lane.thread)
    switch outcome {
    case .stored, .duplicate, .known:
      let scope = AppScope(app: app.id, environment: posted.environment)
      known.withLock { $0.insert(RecentReceipts.Name(scope: scope, digest: posted.digest)) }
    case .rate, .unproven, .unknownApp, .stageLegacy, .overloaded, .failed: break
    }
    return outcome
  }

  private func kept(_ text: [UInt8], _ posted: Posted, of app: App, on thread: WorkerThread) async -> Outcome {
    let now = clock.now()
    let decision = await thread.run { [intake] in
      try? intake.entry(
        forPostedReceipt: text, about: app, environment: posted.environment, receivedAt: now)
    }
    guard let decision else { return .overloaded }
    guard let decision, let reading = decision.reading else { return .unproven }
    do {
      guard try await ledger.hasNews(reading.findings, app: app.id) else { return .known }
      if let sender = posted.sender, !allowance.take(text.count, from: sender, at: now) { return .rate }
      let appended = try await commit.append(decision.entry)
      metrics.count(reading.survey)
      return appended == .stored ? .stored : .duplicate
    } catch {
      // Anybody with a receipt can have a line written while nothing can be stored.
      if let others = failedPace.turn(of: app.bundleID) {
        logger.error(
          "a posted receipt was not stored",
          metadata: ["error": "\(error)", "app": "\(app.bundleID)", "receiptsSinceLastLine": "\(others + 1)"])
      }
      return .failed
    }
  }
}

/// The receipts that were noted last, twice as many as fit at most.
private struct RecentReceipts {
  struct Name: Hashable {
    let scope: AppScope
    let digest: Digest
  }

  private let most: Int
  private var newer: Set<Name> = []
  private var older: Set<Name> = []

  init(atMost most: Int) { self.most = max(1, most / 2) }

  func contains(_ name: Name) -> Bool { newer.contains(name) || older.contains(name) }

  mutating func insert(_ name: Name) {
    if newer.count >= most { (older, newer) = (newer, []) }
    newer.insert(name)
  }
}
