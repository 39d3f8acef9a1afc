/// The runbooks about notifications, purchases and refunds that did not arrive, typed word for word.
@Suite struct NotificationsRunbookStory {
  private static let app = "com.example.kept"
  private static let stranger = "com.example.stranger"

  /// An App Store, the program that asks it, and the service to which it sends.
  private struct Site {
    let apple: RunningSimulator
    let database: TestDatabase
    let program: Program
    let service: RunningProgram

    /// The simulator's signatures count in addition to Apple's.
    private var trust: String {
      """
      switchyard() {
        case "$1 ${2:-}" in
          reconcile*|"quarantine replay") command switchyard "$@" --trust-root '\(apple.root)' ;;
          api*) command switchyard "$@" --trust-root '\(apple.root)' ;;
          *) command switchyard "$@" ;;
        esac
      }
      """
    }

    func type(_ page: String, _ values: [String: String]) async throws -> [String] {
      try await Runbook(page).type(values, program, in: database.place.path, after: trust)
    }
  }

  @Test func `pages find what was missed, explain a purchase and a refund, and empty the quarantine`() async throws {
    let (database, now) = (try await TestDatabase.migrated(), WallClock.system.now())
    let arguments = [
      "--seed", "5", "--customers", "24", "--history", "60", "--app", Self.app, "--app", Self.stranger,
      "--as-of", "\((now - .days(50)).sinceEpoch)",
    ]
    try await RunningSimulator.with(arguments, in: database.place) { apple in
      var program = database.program
      program.environment["SWITCHYARD_DATA_DIR"] = "\(database.place.path)/data"
      program.environment.merge(apple.environment) { $1 }
      try await apple.register(Self.app, program)
      let service = try await RunningProgram.serve(
        program, ["--trust-root", apple.root, "--reconcile-every", "0", "--heartbeat-every", "0"])
      let site = Site(apple: apple, database: database, program: program, service: service)
      let typed: Result<Void, any Error>
      do {
        let refunded = try await live(site, until: now)
        try await findPurchase(site)
        try await findMissed(site)
        try await explainRefund(refunded, site)
        try await emptyQuarantine(site)
        typed = .success(())
      } catch { typed = .failure(error) }
      await service.end(SIGTERM)
      try typed.get()
    }
  }

  /// In fifty days three of five notifications are lost, and one app is not registered.
  ///
  /// - Returns: a purchase that is refunded at the end, which no notification says.
  private func live(_ site: Site, until now: Timestamp) async throws -> JSONObject {
    let apple = site.apple
    for app in [Self.app, Self.stranger] {
      try await apple.control(
        "destination", "bundleId=\(app)", "environment=Sandbox", "url=\(site.service.url)/notifications", "version=2")
    }
    try await apple.control("fault", "fault=dropped", "on=notifications", "percent=60", "times=null")
    try await apple.control("advance", "to=\((now - .hours(1)).sinceEpoch)")
    let bought = try #require(
      try await apple.purchases(of: Self.app).compactMap { $0["transaction"]?.object }.last {
        $0["inAppOwnershipType"] == "PURCHASED" && $0["revocationDate"] == nil
          && $0["purchaseDate"]?.integer ?? 0 > (now - .days(40)).sinceEpoch
      })
    try await apple.control("fault", "fault=dropped", "on=notifications", "operation=REFUND", "times=null")
    try await apple.control(
      "act", "act=refund", "transactionId=\(bought["transactionId"]?.string ?? "")", "bundleId=\(Self.app)",
      "environment=Sandbox")
    try await apple.control("advance", "to=\(now.sinceEpoch)")
    try await apple.control("mend")
    let purchases = try await apple.purchases(of: Self.app)
    return try #require(purchases.first { $0["transaction"]?.object?["transactionId"] == bought["transactionId"] })
  }

  private static func original(_ line: JSONObject) -> String {
    line["transaction"]?.object?["originalTransactionId"]?.string ?? ""
  }

  private func findPurchase(_ site: Site) async throws {
    let rows = try await site.database.rows("SELECT DISTINCT original_transaction_id AS id FROM aliases")
    let known = Set(try rows.map { try $0.text("id") })
    let lost = try #require(
      try await site.apple.purchases(of: Self.app).first { line in
        line["transaction"]?.object?["inAppOwnershipType"] == "PURCHASED" && !known.contains(Self.original(line))
      }, "every customer is known")
    let id = Self.original(lost)
    let found = try await site.type("lost-first-purchase", ["APP": Self.app, "ID": id, "URL": site.service.url])
    #expect(found[0] == "", "nothing is known of it")
    #expect(found[1].contains(#""history":"done""#), "\(found[1])")
    #expect(found[1].contains(id), "\(found[1])")
    #expect(found[2].hasPrefix("revoked "))
    #expect(found[3].contains("RECOVERED"))
    #expect(found[4].contains("customer"), "\(found[4])")
    #expect(found[4].contains(id), "\(found[4])")
    let shown = try await site.program.run("app", "list", Self.app, "--json").objects
    let tokens = shown.first?["tokens"]?.array ?? []
    #expect(tokens.count == 1)
    #expect(tokens.allSatisfy { $0.object?["revokedAt"]?.integer != nil }, "the token is not revoked")
  }

  private func findMissed(_ site: Site) async throws {
    let missed = try await site.type("missed-notifications", ["APP": Self.app, "ENVIRONMENT": "Sandbox"])
    #expect(missed[0].contains("heartbeat") || missed[0].contains("quarantine"), "\(missed[0])")
    #expect(missed[1].contains("MISSING"))
    #expect(missed[2].contains("RECOVERED"))
    #expect(missed[3].contains("SUCCESS"), "\(missed[3])")
    #expect(missed[3].contains("TEST"), "\(missed[3])")
    #expect(missed[4].contains("notifications"))
    #expect(missed[4].contains("RECOVERED"))
  }

  private func explainRefund(_ refunded: JSONObject, _ site: Site) async throws {
    let (order, id) = (try #require(refunded["orderId"]?.string), Self.original(refunded))
    let complaint = try await site.type(
      "refund-complaint", ["APP": Self.app, "ENVIRONMENT": "Sandbox", "ORDER_ID": order])
    #expect(complaint[0].contains("REVOKED"))
    #expect(complaint[0].contains(id))
    #expect(complaint[1].contains("REFUND"), "\(complaint[1])")
    #expect(complaint[2].contains("revocationDate"))
    #expect(complaint[3].contains("TRANSACTION"))
    #expect(complaint[5].contains(id))
  }

  /// The messages of the app that was not registered wait there.
  private func emptyQuarantine(_ site: Site) async throws {
    let waiting = try await site.program.run("quarantine", "list", "--json").objects
    #expect(waiting.contains { $0["code"] == "unknownApp" })
    let texts = try await site.type("quarantine", ["APP": Self.stranger])
    #expect(texts[0].contains("unknownApp"), "\(texts[0])")
    #expect(texts[0].contains("signedPayload"), "\(texts[0])")
    #expect(texts[1].contains("register \(Self.stranger)"))
    #expect(texts[2].contains("accepted"), "\(texts[2])")
    #expect(!texts[3].contains("unknownApp"), "\(texts[3])")
    #expect(texts[4] == "0 would be deleted; say --yes to delete them\n")
    #expect(try await site.program.run("quarantine", "list", "--json").objects.isEmpty)
  }
}
