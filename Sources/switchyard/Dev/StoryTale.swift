import HTTPClient
import JSON
import Time

final class StoryTale {
  private typealias App = DemoRunner

  /// Forwarded messages and verifyReceipt responses are stored a moment after the response.
  private static let patience = Duration.seconds(60)

  private(set) var report = StoryReport()
  private(set) var known = KnownReport()
  var checks = StoryChecks()
  private(set) var dev = ""
  private(set) var anna = ""

  let appStore: StoryAppStore
  let service: StoryService
  private let oldBackEnd: DemoBackEnd
  private let oldBackEndURL: String
  let secrets: [String: String]
  private let start: Timestamp
  private let days: Int64
  private var minutes: Int64 = 0
  private var arrived = 0

  /// - Parameters:
  ///   - secrets: V1's, by bundle ID.
  ///   - start: the beginning of the world, `days` ago.
  init(
    appStore: StoryAppStore, service: StoryService, oldBackEnd: DemoBackEnd, oldBackEndURL: String,
    secrets: [String: String], start: Timestamp, days: Int64
  ) {
    self.appStore = appStore
    self.service = service
    self.oldBackEnd = oldBackEnd
    self.oldBackEndURL = oldBackEndURL
    self.secrets = secrets
    self.start = start
    self.days = days
  }

  /// - Parameter ask: the request for a subscription's statuses to the App Store Server API.
  func tell(_ forgeries: StoryForgeries, asking ask: (String) throws -> ClientRequest) async throws {
    let (inkwell, trailhead) = (App.inkwell, App.trailhead)
    try await appStore.send(inkwell, to: service.notificationsURL(inkwell), version: 1)
    try await appStore.send(trailhead, to: oldBackEndURL, version: 1)

    anna = try await appStore.enrol(in: inkwell, usesStoreKit1: true)
    try await appStore.act("buy", anna, ["productId": "plus.monthly"])
    try await scene("Anna subscribes to Plus", inkwell)

    oldBackEnd.setDown(true)
    let cleo = try await appStore.enrol(in: trailhead, usesStoreKit1: false)
    let cleos = try await appStore.act("buy", cleo, ["productId": "plus.monthly"]).first ?? ""
    try await scene("Cleo subscribes; the existing back end, where Apple still posts, is down", trailhead)
    oldBackEnd.setDown(false)
    try await appStore.send(trailhead, to: service.notificationsURL(trailhead), version: 2)
    add(trailhead, "Trailhead's URL at Apple is Switchyard's now, and V2", "", nil, "from here on")
    let devs = try await appStore.enrol(in: trailhead, usesStoreKit1: false)
    dev = try await appStore.act("buy", devs, ["productId": "pro.monthly"]).first ?? ""
    try await scene("Dev subscribes to Pro", trailhead)
    let before = try await service.purchases(cleos, of: trailhead)
    try await pass(hours: 7, "Apple tries Cleo's message again, still in V1", trailhead)
    let after = try await service.purchases(cleos, of: trailhead)
    checks.expect(
      before == nil && after != nil, "V1's retry after the switch to V2 brings Cleo's purchase: no gap at the switch")

    try await forge(forgeries)
    try await pass(hours: 24 * 31, "A month passes: all subscriptions renew", "")
    try await appStore.act("setAutoRenew", anna, ["on": false])
    try await scene("Anna switches auto-renewal off", inkwell)
    let archive = try await appStore.act("buy", anna, ["productId": "archive"])
    try await scene("Anna buys the archive; V1 does not report it", inkwell)
    try await verifyReceipt(of: anna, finds: archive.first ?? "")
    try await lostRefund(of: devs, ask)
    try await pass(hours: days * 24 - minutes / 60 - 3, "", "")
  }

  func passTheRest() async throws { try await pass(hours: days * 24 - minutes / 60, "", "") }

  /// Sends an old client's call through Switchyard, which returns Apple's response and stores its data.
  private func verifyReceipt(of customer: String, finds transaction: String) async throws {
    let receipt = try await appStore.receipt(of: customer)
    let answer = try await service.verifyReceipt(receipt, password: secrets[App.inkwell] ?? "").body
    add(
      App.inkwell, "Anna's old client has its receipt verified, through Switchyard", "verifyReceipt", nil,
      "passed on, stored")
    let isKnown = try await comesTrue {
      try await service.purchases(transaction, of: App.inkwell) != nil
    }
    checks.expect(
      answer["status"] == 0 && isKnown, "/verifyReceipt gives Apple's answer, and the archive is known from it")
  }

  private func forge(_ forgeries: StoryForgeries) async throws {
    let outcomes = (
      try await service.post(forgeries.v2, of: App.trailhead), try await service.post(forgeries.v1, of: App.inkwell)
    )
    arrived += 2
    add(
      App.trailhead, "Mallory sends a purchase with her own certificates", "SUBSCRIBED/INITIAL_BUY", 2, outcomes.0)
    add(App.inkwell, "Mallory sends one with a guessed password", "SUBSCRIBED/INITIAL_BUY", 1, outcomes.1)
    checks.expect(
      outcomes == ("quarantined", "quarantined"), "Both forgeries are in quarantine, each with its reason")
  }

  /// Loses the worst message to lose; a later request to Apple recovers it.
  private func lostRefund(of customer: String, _ ask: (String) throws -> ClientRequest) async throws {
    let archive = try await appStore.act("buy", customer, ["productId": "archive"]).first ?? ""
    try await scene("Dev buys the archive", App.trailhead)
    try await appStore.lose("REFUND")
    try await appStore.act("refund", customer, ["transactionId": .string(archive)])
    try await scene("Dev gets his money back; the message is lost in transit", App.trailhead)
    let before = try await revocation(of: archive)
    let answer = try await service.client.send(try ask(archive))
    let taken = try await service.handIn(answer.body, of: App.trailhead)
    let after = try await revocation(of: archive)
    add(
      App.trailhead, "Apple is asked for the transaction, the answer handed in", "Get Transaction Info", nil,
      taken.body["status"]?.string ?? "refused")
    checks.expect(
      before == nil && after != nil, "A refund whose message was lost is learned from Apple's own answer")
  }

  /// Checks all data, and all messages due at the destination.
  func checkEverything() async throws {
    var (wrong, lines) = (0, 0)
    var shown: Set<String> = []
    for line in try await appStore.truth() {
      guard let app = line["app"]?.string else { continue }
      let transaction = line["transaction"]?.object
      guard let id = (transaction ?? line)["originalTransactionId"]?.string else { continue }
      lines += 1
      guard let found = try await service.purchases(id, of: app) else {
        wrong += 1
        continue
      }
      if shown.insert(id).inserted { known.add(app: app, found) }
      if !StoryTruth.agrees(line, found) { wrong += 1 }
    }
    checks.expect(
      wrong == 0 && lines > 0,
      "Of \(lines) purchases and subscriptions in the App Store \(lines - wrong) are known exactly")
    let heardAll = try await comesTrue { oldBackEnd.count == arrived }
    checks.expect(
      heardAll,
      "The existing back end received \(oldBackEnd.count) of the \(arrived) messages that reached Switchyard, unchanged"
    )
  }

  func comesTrue(_ condition: () async throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + Self.patience
    while ContinuousClock.now < deadline {
      if try await condition() { return true }
      try await Task.sleep(for: .milliseconds(20))
    }
    return false
  }

  // MARK: Report

  func scene(_ caption: String, _ app: String) async throws {
    try await pass(hours: 1, caption, app)
  }

  /// Advances time and reports Apple's notifications; the first line has the caption.
  func pass(hours: Int64, _ caption: String, _ app: String) async throws {
    try await appStore.advance(minutes: hours * 60)
    var caption = caption
    let tellings = try await appStore.tellings()
    for telling in tellings {
      let outcome =
        switch telling.result {
        case "SUCCESS": "stored, forwarded"
        case "NO_RESPONSE": "lost"
        default: "not taken"
        }
      if telling.result == "SUCCESS" { arrived += 1 }
      let title = telling.title + (telling.attempt > 1 ? ", again" : "")
      report.add(
        day: (telling.date - start).milliseconds / 86_400_000 + 1, app: telling.app, caption, title,
        version: telling.version, outcome)
      caption = ""
    }
    if tellings.isEmpty, !caption.isEmpty { add(app, caption, "", nil, "") }
    minutes += hours * 60
  }

  func add(_ app: String, _ caption: String, _ title: String, _ version: Int64?, _ outcome: String) {
    report.add(day: minutes / 1_440 + 1, app: app, caption, title, version: version, outcome)
  }

  private func revocation(of transaction: String) async throws -> JSONValue? {
    let found = try await service.purchases(transaction, of: App.trailhead)?["purchases"]?.array ?? []
    return found.compactMap(\.object).first { $0["transactionId"]?.string == transaction }?["revocationDate"]
  }
}
