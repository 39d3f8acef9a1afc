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

/// Stores proven receipts that are posted to verifyReceipt while Apple is not asked.
///
/// They contain IDs of restores, and of purchases without a notification yet. Strangers cannot fill the disk. A receipt
/// is stored only if its signature is verified, its app is registered, and it contains a purchase or ID without signed
/// data. Each address has a rate. Every other receipt is counted.
package final class ReceiptCapture: Sendable {
  package struct Settings: Sendable {
    /// The number of stored receipts of one address, and its refill time.
    package var allowance: SenderRateLimiter.Settings
    /// The number of receipts remembered as known, so that the database is not asked about them again.
    package var remembered = 16_384
    /// The bytes of one class's receipts that are processed at the same time; more are dropped.
    package var bytesAtOnce = 32 << 20

    package init() {
      allowance = SenderRateLimiter.Settings()
      (allowance.burst, allowance.refill) = (200, .seconds(1))
    }
  }

  /// The outcome of a receipt; the names are a metric's labels.
  package enum Outcome: String, Sendable, CaseIterable {
    case stored
    /// It is in the inbox already.
    case duplicate
    /// It contains nothing new.
    case known
    /// Its sender exceeded the rate.
    case rate
    case unproven
    case unknownApp
    /// The app's stage in this environment stores nothing.
    case stageLegacy
    case overloaded
    case failed
  }

  package struct Posted: Sendable {
    /// The base64 text, without the rest of the request.
    package let text: String
    package let digest: Digest
    package let bundleID: String
    package let environment: Environment
    /// `nil` for callers without their own limit.
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

  /// The receipts of one class of callers in process, so that named callers wait for no stranger's.
  private final class Lane: Sendable {
    let bytes = Mutex(0)
    /// Verifies signatures one at a time, because the threads that serve connections are Apple's too.
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

  /// Processes a receipt in the background, without delaying the client.
  ///
  /// A receipt lost in a stop comes again, because old clients resend it repeatedly.
  package func take(_ posted: Posted) {
    // Most are resent repeatedly, and those cost no task.
    switch precheck(posted) {
    case .settled(let outcome): count(outcome)
    case .open: Task { await taken(posted) }
    }
  }

  /// Stores a receipt with new content; returns the outcome after the commit.
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
      // While nothing can be stored, any client with a receipt can cause a log line.
      if let others = failedPace.turn(of: app.bundleID) {
        logger.error(
          "a posted receipt was not stored",
          metadata: ["error": "\(error)", "app": "\(app.bundleID)", "receiptsSinceLastLine": "\(others + 1)"])
      }
      return .failed
    }
  }
}

/// The last receipts, at most twice the configured number.
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
