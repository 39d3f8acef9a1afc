/// An app of which Apple posts to its old back end, with a customer in each environment, and a service that waits for it.
private struct ConnectedApp {
  static let bundleID = "com.example.connected"
  static let paths = ["Production": "/apple", "Sandbox": "/apple-sandbox"]

  let apple: RunningSimulator
  let proxy: FrontProxy
  let oldBackEnd: Inbox
  let oldURL: String
  /// The version of Apple's notifications that the app begins with.
  let version: Int
  private let customers: [String]

  init(_ apple: RunningSimulator, _ proxy: FrontProxy, _ oldBackEnd: Inbox, at oldURL: String, version: Int)
    async throws
  {
    (self.apple, self.proxy, self.oldBackEnd, self.oldURL, self.version) = (apple, proxy, oldBackEnd, oldURL, version)
    var customers: [String] = []
    for (environment, path) in Self.paths {
      try await Self.direct(apple, environment, to: oldURL + path, version)
      let enrolled = try await apple.control("enrol", "bundleId=\(Self.bundleID)", "environment=\(environment)")
      let customer = try #require(enrolled.first?["customer"]?.string)
      try await apple.control("act", "act=buy", "productId=plus.monthly", "customer=\(customer)")
      customers.append(customer)
    }
    self.customers = customers
  }

  /// Enters a URL in App Store Connect.
  private static func direct(
    _ apple: RunningSimulator, _ environment: String, to url: String, _ version: Int
  ) async throws {
    try await apple.control(
      "destination", "bundleId=\(bundleID)", "environment=\(environment)", "url=\(url)", "version=\(version)")
  }

  /// Enters every URL that a command printed for App Store Connect, and returns whether there was any.
  func enter(_ printed: String) async throws -> Bool {
    var isAny = false
    for line in printed.split(separator: "\n") {
      for environment in Self.paths.keys where line.hasPrefix("\(environment) Server URL: ") {
        let words = line.dropFirst("\(environment) Server URL: ".count).split(separator: ", Version ")
        let version = words.count == 2 ? Int(words[1]) : nil
        try await Self.direct(apple, environment, to: String(words[0]), version ?? self.version)
        isAny = true
      }
    }
    return isAny
  }

  /// Has both customers turn renewal on or off; then the old back end has to have heard everything that Apple has sent.
  ///
  /// - Parameter moment: said when it has not.
  /// - Returns: how many notifications Apple has sent by now.
  func live(on: Bool, _ moment: String) async throws -> Int {
    for customer in customers {
      try await apple.control("act", "act=setAutoRenew", "on=\(on)", "customer=\(customer)")
    }
    try await apple.control("advance", "milliseconds=10000")
    let sent = try await apple.control("notifications", "limit=10000").first?["notifications"]?.array ?? []
    let shipments = sent.compactMap(\.object)
    let undelivered = shipments.filter { $0["state"] != "delivered" }
    #expect(undelivered.isEmpty, "\(moment): \(undelivered.map { String(decoding: $0.encoded(), as: UTF8.self) })")
    for (environment, path) in Self.paths {
      let count = shipments.count { $0["environment"]?.string == environment }
      let isHeard = await eventually(within: .seconds(90)) { heard(at: path).count >= count }
      try #require(isHeard, "\(moment): \(environment) heard \(heard(at: path).count) of \(count)")
      #expect(heard(at: path).count == count, "\(moment): \(environment)")
    }
    let all = Self.paths.values.reduce(into: Set<[UInt8]>()) { $0.formUnion(heard(at: $1)) }
    #expect(proxy.posted.allSatisfy(all.contains), "\(moment): not byte for byte")
    return shipments.count
  }

  /// Apple's notifications, without the test post of the runbook.
  func heard(at path: String) -> Set<[UInt8]> { oldBackEnd.bodies(at: path).subtracting([Array("{}".utf8)]) }

  /// What the runbook's examples stand for.
  func values(_ secretFile: String, url: String) -> [String: String] {
    let app = apple.world["apps"]?.array?.first?.object
    return [
      "APP": Self.bundleID, "APPLE_ID": app?["appAppleId"]?.integer.map { "\($0)" } ?? "",
      "OLD_PRODUCTION_URL": oldURL + (Self.paths["Production"] ?? ""),
      "OLD_SANDBOX_URL": oldURL + (Self.paths["Sandbox"] ?? ""), "KEY_FILE": apple.word("keyFile"),
      "KEY_ID": apple.word("keyId"), "ISSUER": apple.word("issuerId"), "SECRET_FILE": secretFile, "URL": url,
    ]
  }
}

/// The commands of connect-app.md, connect-app-production.md and switch-to-v2.md, while an App Store sends.
@Suite struct ConnectAppStory {
  @Test(arguments: [1, 2]) func `the old back end hears every notification at every step, there and back`(version: Int)
    async throws
  {
    let pages = try ["connect-app", "connect-app-production", "switch-to-v2"].map { try Runbook($0) }
    for page in pages {
      #expect(page.headings == Runbook.headings)
      #expect(!page.hasUntyped, "every command is in a block that is typed")
    }
    let database = try await TestDatabase.migrated()
    let proxy = FrontProxy()
    let front = HTTPServer(HTTPServerConfiguration(port: 0), handler: proxy) { _ in }
    try front.start()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await front.run() }
      defer { group.cancelAll() }
      try await Inbox.with { oldBackEnd, oldURL in
        // Its time goes faster than ours.
        let start = (WallClock.system.now() - .hours(1)).sinceEpoch
        let world = ["--customers", "0", "--seed", "3", "--as-of", "\(start)", "--app", ConnectedApp.bundleID]
        try await RunningSimulator.with(world, in: database.place) { apple in
          let app = try await ConnectedApp(apple, proxy, oldBackEnd, at: oldURL, version: version)
          try await connect(app, pages, database, "http://127.0.0.1:\(front.port)")
        }
      }
    }
    await proxy.shutdown()
  }

  private func connect(_ app: ConnectedApp, _ pages: [Runbook], _ database: TestDatabase, _ url: String) async throws {
    let apple = app.apple
    var program = database.program
    program.environment["SWITCHYARD_DATA_DIR"] = "\(database.place.path)/data"
    program.environment["SWITCHYARD_VERIFY_RECEIPT_URL"] = apple.url + "/verifyReceipt"
    program.environment.merge(apple.environment) { $1 }
    // The root counts for the Sandbox. V2 messages of Production are quarantined here, and still forwarded.
    let service = try await RunningProgram.serve(
      program, ["--trust-root", apple.root, "--reconcile-every", "0", "--heartbeat-every", "0"])
    app.proxy.pass(to: service.url)
    let shell = try TypingShell(program)
    let file = database.place.file("secret.txt", Array((apple.secret + "\n").utf8))
    let typed: Result<Void, any Error>
    do { typed = .success(try await type(pages, app.values(file, url: url), app, shell)) } catch {
      typed = .failure(error)
    }
    await shell.leave()
    #expect(await service.end(SIGTERM) == 0, "\(service.notes)")
    #expect(!service.notes.contains(apple.secret))
    #expect(!shell.notes.contains(apple.secret))
    try typed.get()
  }

  /// Returns the block of examples of a page as one command, with the values of this test.
  private func examples(_ page: Runbook, _ values: [String: String]) throws -> String {
    let block = try #require(page.blocks.first { $0.heading == "" }).commands
    let used = values.filter { value in block.split(separator: "\n").contains { $0.hasPrefix(value.key + "=") } }
    let filled = Runbook.filled(block, with: used)
    return try #require(filled, "the page asks for values that this test does not have").replacing("\n", with: "; ")
  }

  private func type(
    _ pages: [Runbook], _ values: [String: String], _ app: ConnectedApp, _ shell: TypingShell
  ) async throws {
    // Whom to trust beside Apple.
    _ = try await shell.type(
      "switchyard() { if [ \"$1\" = api ]; then set -- \"$@\" --trust-root '\(app.apple.root)'; fi; command switchyard \"$@\"; }"
    )
    func commands(_ page: Runbook, _ headings: String...) -> [String] {
      let blocks = headings.flatMap { heading in page.blocks.filter { $0.heading == heading } }
      return blocks.flatMap { Runbook.commands($0.commands) }
    }
    let (sandbox, production, switching) = (pages[0], pages[1], pages[2])
    var all = [try examples(sandbox, values)] + commands(sandbox, "Check", "Do", "Verify", "If not")
    all += [try examples(production, values)] + commands(production, "Check", "Do", "Verify", "If not")
    // Apple sends no test notification in version 1, as the pages say. The app then comes to version 2 in the Sandbox.
    if app.version == 1 {
      all.removeAll { $0.contains("test-notification") }
      all.append(try examples(switching, values.merging(["ENVIRONMENT": "Sandbox"]) { $1 }))
      all += commands(switching, "Check", "Do", "Verify", "Back out", "If not")
    }
    all += commands(production, "Back out") + commands(sandbox, "Back out")
    var (renews, sent, hadFirst, entered) = (true, 0, false, 0)
    func live(_ moment: String) async throws {
      renews.toggle()
      let now = try await app.live(on: renews, moment)
      #expect(now >= sent + 2, "\(moment): Apple sends something in both environments")
      sent = now
    }
    var printed: [(command: String, text: String)] = []
    for command in all {
      try await live("before \(command)")
      let text = try await shell.type(command)
      printed.append((command, text))
      guard try await app.enter(text) else { continue }
      entered += 1
      try await live("after \(command)")
      guard !hadFirst, let first = app.proxy.posted.first else { continue }
      hadFirst = true
      #expect(app.heard(at: "/apple-sandbox").contains(first), "the first notification, byte for byte")
    }
    try await live("at the end")
    #expect(hadFirst)
    #expect(entered == (app.version == 1 ? 5 : 4), "both environments, the new version, and both back again")
    try expect(printed, of: app)
  }

  /// The checks that the page names show what it says.
  private func expect(_ printed: [(command: String, text: String)], of app: ConnectedApp) throws {
    func text(_ command: String) throws -> String {
      try #require(printed.first { $0.command.contains(command) }, "\(command) is not typed").text
    }
    #expect(try text("app list \"$APP\"").contains("stages    Production record, Sandbox record"))
    #expect(try text("--limit 0").split(separator: "\n").count == 3, "a line for each environment")
    #expect(try text("'Production: %{http_code}") == "Production: 200\n")
    #expect(try text("'Sandbox: %{http_code}") == "Sandbox: 200\n")
    #expect(try text("api check").split(separator: "\n").count { $0.contains("keyAccepted") } == 2)
    let diagnosis = try text("switchyard doctor")
    let named = diagnosis.split(separator: "\n").filter { $0.contains(ConnectedApp.bundleID) }
    #expect(diagnosis.contains("schema"))
    let isLeft = named.map { $0.contains("has no legacy URL in Production") || $0.contains("has no token") }
    #expect(isLeft.allSatisfy { $0 }, "\(diagnosis)")
    #expect(try text("--environment Sandbox --state delivered").contains("delivered"))
    #expect(try text("--environment Production --state delivered").contains("delivered"))
    #expect(try text("/verifyReceipt\"").contains("status"))
    #expect(try text("/v1/apps/").contains("unknownId"))
    #expect(try text("for TRY").contains("SUCCESS"))
    if app.version == 1 {
      #expect(try text("rollout url \"$APP\" --public-url").contains(" v1 "))
      #expect(try text("--json | grep").contains(#""state":"both""#))
    }
    if app.version == 1 { #expect(try text("quarantine list").contains("noSharedSecret") == false) }
  }
}
