import Adapter
import Database
import HTTPClient
import JSON
import Ledger
import Runtime
import Signing
import Simulator
import Synchronization
import Time

/// Plays a story against a running service over HTTP, and tells what became of every message.
final class StoryPlay: Service {
  private let story: Story
  private let pki: ApplePKI
  private let samples: String?
  private let url: String
  private let pool: Pool
  private let now: Milliseconds
  private let terminal: Terminal
  private let staysAfterwards: Bool
  private let client = HTTPClient()
  private let surprises = Mutex(0)
  private let isOver = Mutex(false)

  init(
    story: Story, pki: ApplePKI, samples: String?, url: String, pool: Pool, now: Milliseconds, terminal: Terminal,
    staysAfterwards: Bool
  ) {
    self.story = story
    self.pki = pki
    self.samples = samples
    self.url = url
    self.pool = pool
    self.now = now
    self.terminal = terminal
    self.staysAfterwards = staysAfterwards
  }

  /// Whether the story was told to its end and every message became what it should.
  var wentAsExpected: Bool { isOver.withLock { $0 } && surprises.withLock { $0 } == 0 }

  func run() async throws {
    var tokens: [String: String] = [:]
    for app in story.apps { tokens[app.bundleID] = try await register(app.bundleID, appAppleID: app.appAppleID) }
    let messages = try story.told(by: pki, forger: try ApplePKI.generate(at: now))
    var report = StoryReport(terminal: terminal)
    for message in messages {
      let answer = try await post("/notifications", message.body)
      let outcome = StoryReport.Outcome(status: answer.status, body: answer.body)
      let reason = try await refusalCode(message, outcome)
      if !report.add(message, outcome, reason: reason) { surprises.withLock { $0 += 1 } }
    }
    try report.print(story.apps.map(\.bundleID))
    try await tellWhatIsKnown(messages, tokens)
    if let samples { try await handInRealAnswer(samples) }
    try sayWhereToLook(tokens, messages)
    isOver.withLock { $0 = true }
    if staysAfterwards {
      terminal.note("Serving on \(url); Ctrl-C stops it.")
      await untilCancelled()
    }
  }

  private func register(_ bundleID: String, appAppleID: Int64?) async throws -> String {
    let now = now
    return try await pool.transaction { session throws(DatabaseError) in
      let app = try AppTable.add(bundleID: bundleID, appAppleID: appAppleID, at: now, in: session)
      try AuditTable.note("app add", of: bundleID, by: "switchyard dev", because: "story", at: now, in: session)
      return try TokenTable.issue(for: app, label: "dev", at: now, in: session)
    }
  }

  /// Why a message was set aside, as quarantine keeps it; what was refused at once says so itself.
  private func refusalCode(_ message: Story.Message, _ outcome: StoryReport.Outcome) async throws -> String? {
    guard outcome.word == "quarantined" || outcome.word == "quarantinedBefore" else { return outcome.errorCode }
    let notified = InboxMessage(
      kind: .notification, body: message.body, identity: Adapter.identity(ofNotification: message.body),
      receivedAt: now)
    return try await pool.read { session throws(DatabaseError) in
      let kept = try QuarantineTable.page(
        after: nil, code: nil, digestPrefix: notified.digest.bytes, limit: 1, in: session)
      // A V1 body is kept without its secret, so under another digest.
      if let first = kept.first { return first.code }
      return try QuarantineTable.page(
        after: nil, code: "notificationV1NotYet", digestPrefix: nil, limit: 1, in: session
      ).first?.code
    }
  }

  private func tellWhatIsKnown(_ messages: [Story.Message], _ tokens: [String: String]) async throws {
    var customers: [(app: String, id: String)] = []
    for notification in messages.compactMap(\.notification) {
      guard let id = notification.originalTransactionID, tokens[notification.bundleID] != nil else { continue }
      if !customers.contains(where: { $0.id == id }) { customers.append((notification.bundleID, id)) }
    }
    var report = KnownReport(terminal: terminal)
    for (app, id) in customers {
      let answer = try await get("/v1/apps/\(app)/purchases/\(id)?provenance=false", token: tokens[app] ?? "")
      for result in answer.body["results"]?.array ?? [] { report.add(app: app, result.object ?? [:]) }
    }
    try report.print()
  }

  /// A statuses answer that Apple signed in 2021: refused as its publishers edited it, taken as Apple signed it.
  private func handInRealAnswer(_ directory: String) async throws {
    let path = "\(directory)/v2/omnichess_status_raw_jws.json"
    guard FileFacts(path) != nil, let answer = try JSONReader.read(Input.read(path, limit: 1 << 20)).object else {
      return
    }
    let app = "club.omnichess.ios"
    let token = try await register(app, appAppleID: nil)
    var corrected = answer
    corrected["bundleId"] = .string(app)
    let refused = try await post("/v1/evidence", answer.encoded(), token: token)
    let taken = try await post("/v1/evidence", corrected.encoded(), token: token)
    let found = try await get("/v1/apps/\(app)/purchases/1000000906235058", token: token)
    let code = refused.body["error"]?.object?["code"]?.string ?? "accepted"
    if code != "contradictsEnvelope" || taken.status != 200 || found.status != 200 { surprises.withLock { $0 += 1 } }
    let subscription = found.body["results"]?.array?.first?.object?["subscriptions"]?.array?.first?.object
    try terminal.write(
      """

      A real answer of Apple's, signed in 2021, handed in as evidence
        with the bundle id its publishers wrote into the envelope: refused, \(code)
        with the bundle id that Apple signed: \(taken.body["status"]?.string ?? "refused"); \
      \(subscription?["productId"]?.string ?? "nothing") is \(subscription?["statusName"]?.string ?? "unknown")

      """)
  }

  private func sayWhereToLook(_ tokens: [String: String], _ messages: [Story.Message]) throws {
    let (app, token) = tokens.sorted { $0.key < $1.key }.first ?? ("", "")
    let known = messages.compactMap(\.notification).first { $0.bundleID == app && $0.originalTransactionID != nil }
    let program = CommandLine.arguments.first ?? "switchyard"
    let served =
      """
        curl \(url)/readyz
        curl \(url)/metrics
        curl -H 'Authorization: Bearer \(token)' \(url)/v1/apps/\(app)/customers/\(known?.originalTransactionID ?? "")

      """
    try terminal.write(
      """

      To look further
      \(staysAfterwards ? served : "")\
        \(program) quarantine list        what was set aside, and why
        \(program) inbox show             what was accepted
        \(program) db dump --canonical    all that is known

      """)
  }

  private func post(
    _ path: String, _ body: [UInt8], token: String? = nil
  ) async throws -> (status: Int, body: JSONObject) {
    try await send(ClientRequest(method: "POST", url: url + path, body: body), token)
  }

  private func get(_ path: String, token: String) async throws -> (status: Int, body: JSONObject) {
    try await send(ClientRequest(url: url + path), token)
  }

  private func send(_ request: ClientRequest, _ token: String?) async throws -> (status: Int, body: JSONObject) {
    var request = request
    if let token { request.headers.append(("Authorization", "Bearer \(token)")) }
    let response = try await client.send(request)
    return (response.status, (try? JSONReader.read(response.body).object) ?? [:])
  }
}
