import Database
import HTTPClient
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Service
import Signing
import Simulator
import Synchronization
import Time

/// Plays a story over HTTP with a simulated App Store, Switchyard in `record`, and the earlier back end.
///
/// Inkwell stays on V1, and Trailhead switches from V1 to V2 in the middle. At the end Inkwell goes live, and its old
/// clients get responses without Apple. Every result is checked.
final class DemoRunner: Service {
  struct Stage: Sendable {
    let appStore: RunningAppStore
    let oldBackEnd: DemoBackEnd
    let oldBackEndURL: String
    let running: RunningInstallation
    let samples: String?
    /// The directory of the world's files, for `simulate control`.
    let directory: String
    let databaseOptions: String
  }

  static let (inkwell, trailhead) = ("com.example.inkwell", "com.example.trailhead")
  /// The story's days are over when it begins, so that no date is in the future.
  private static let days: Int64 = 40

  private let stage: Stage
  private let terminal: Terminal
  private let now: Timestamp
  private let staysAfterwards: Bool
  private let client = HTTPClient()
  private let wentWell = Mutex(false)

  init(_ stage: Stage, at now: Timestamp, terminal: Terminal, staysAfterwards: Bool) {
    self.stage = stage
    self.now = now
    self.terminal = terminal
    self.staysAfterwards = staysAfterwards
  }

  /// Creates a world without customers, in Production because the sandbox does not retry.
  static func world(at now: Timestamp) -> AppStoreWorld {
    let apps = [(inkwell, Int64(1_580_234_117)), (trailhead, Int64(1_493_870_562))].map { bundleID, appleID in
      AppPlan.sample(bundleID, appAppleID: appleID, environment: .production)
    }
    return AppStoreWorld(
      plan: WorldPlan(apps: apps), seed: UInt64(bitPattern: now.sinceEpoch), start: now - .days(days))
  }

  var wentAsExpected: Bool { wentWell.withLock { $0 } }

  func run() async throws {
    let tokens = try await register()
    terminal.note("Playing \(Self.days) days of two apps…")
    let service = StoryService(url: stage.running.url, tokens: tokens, client: client)
    let tale = StoryTale(
      appStore: StoryAppStore(controlURL: stage.appStore.controlURL, client: client), service: service,
      oldBackEnd: stage.oldBackEnd, oldBackEndURL: stage.oldBackEndURL,
      secrets: Dictionary(
        uniqueKeysWithValues: stage.appStore.world.apps.map { ($0.app.bundleID, $0.sharedSecret) }),
      start: now - .days(Self.days), days: Self.days)
    let forgeries = try StoryForgeries(at: now - .days(Self.days), receiptPKI: stage.appStore.store.identity.receiptPKI)
    let identity = stage.appStore.store.identity
    try await tale.tell(forgeries) { [stage] id in
      // Like any client of the App Store Server API.
      let token = try identity.key.token(for: Self.trailhead, at: WallClock.system.now())
      return ClientRequest(
        url: "\(stage.appStore.productionURL)/inApps/v1/transactions/\(id)",
        headers: [("Authorization", "Bearer \(token)")])
    }
    try await tale.goLive(with: tale.anna, beside: stage.appStore.productionURL, operated, key: identity.key)
    try await tale.passTheRest()
    try await tale.checkEverything()
    var checks = tale.checks
    if let samples = stage.samples { try await handInRealAnswer(samples, &checks) }
    try terminal.write("\nThe events of a simulated App Store with two apps, over HTTP, and their outcome\n\n")
    try tale.report.print(to: terminal)
    try tale.known.print(to: terminal)
    try checks.print(to: terminal)
    try sayWhereToLook(tokens, dev: tale.dev)
    wentWell.withLock { $0 = checks.failures == 0 }
    if staysAfterwards {
      terminal.note("Serving on \(stage.running.url); Ctrl-C stops it.")
      await untilCancelled()
    }
    await client.shutdown()
  }

  private var operated: StoryOperator { StoryOperator(running: stage.running, now: now) }

  private func register() async throws -> [String: String] {
    var tokens: [String: String] = [:]
    for plan in stage.appStore.world.apps {
      tokens[plan.app.bundleID] = try await operated.register(
        plan.app.bundleID, appAppleID: plan.app.appAppleID, secret: plan.sharedSecret,
        forwardingTo: stage.oldBackEndURL)
    }
    return tokens
  }

  /// Submits a statuses response that Apple signed in 2021.
  ///
  /// The edited published form must be rejected, Apple's signed form accepted.
  private func handInRealAnswer(_ directory: String, _ checks: inout StoryChecks) async throws {
    let path = "\(directory)/v2/omnichess_status_raw_jws.json"
    guard FileMetadata(path) != nil, let answer = try JSONReader.read(Input.read(path, limit: 1 << 20)).object else {
      return
    }
    let app = "club.omnichess.ios"
    let service = StoryService(
      url: stage.running.url, tokens: [app: try await operated.register(app, forwardingTo: stage.oldBackEndURL)],
      client: client)
    var corrected = answer
    corrected["bundleId"] = .string(app)
    let refused = try await service.handIn(answer.encoded(), of: app)
    let taken = try await service.handIn(corrected.encoded(), of: app)
    let known = try await service.purchases("1000000906235058", of: app)
    checks.expect(
      refused.body["error"]?.object?["code"]?.string == "contradictsEnvelope" && taken.status == 200 && known != nil,
      "A real response from Apple of 2021 is accepted with Apple's signature, and refused with its publishers' edits")
  }

  private func sayWhereToLook(_ tokens: [String: String], dev: String) throws {
    let program = CommandLine.arguments.first ?? "switchyard"
    let (url, options) = (stage.running.url, stage.databaseOptions)
    let served =
      """
        curl \(url)/metrics
        curl -H 'Authorization: Bearer \(tokens[Self.trailhead] ?? "")' \(url)/v1/apps/\(Self.trailhead)/customers/\(dev)
        \(program) simulate control --out \(stage.directory) world
        \(program) simulate control --out \(stage.directory) advance days=30    # a month later

      """
    try terminal.write(
      """

      To look further
        \(program) explain \(Self.trailhead) \(dev)\(options)    # who said what, and which rule decided
        \(program) rollout status\(options)
        \(program) outbox list --state delivered\(options)    # messages sent to the existing back end
        \(program) quarantine list\(options)    # refused messages, and why
      \(staysAfterwards ? served : "")
      """)
  }
}
