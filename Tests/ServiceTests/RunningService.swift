/// The whole service on a free port, with a database and two PKIs of its own, for the length of one test.
struct RunningService {
  static let now = Timestamp(1_780_000_000_000)
  static let app = "com.example.service"
  static let appAppleID: Int64 = 1_234_567_890

  let pki: ApplePKI
  let base: String
  let token: String
  let pool: Pool
  let log: RecordingLogHandler
  let master: MasterKey
  let database: DatabaseConfiguration
  /// Where the metrics have a listener of their own.
  let metricsPort: UInt16?
  private let client = HTTPClient()
  /// Megabytes take a debug build long beside other tests.
  private static let patience = Interval.seconds(90)

  /// Runs `body` against a service with one app registered, then stops everything.
  ///
  /// Apple's own root is trusted beside the simulated one.
  static func with(
    _ change: (inout Application.Settings) -> Void = { _ in },
    sources: IPAllowlist = .anywhere, app: String = Self.app, clock: WallClock = .fixed(at: Self.now),
    _ body: (RunningService) async throws -> Void
  ) async throws {
    let configuration = try await PrivateMariaDB.shared.database()
    let pool = Pool(configuration)
    let pki = try ApplePKI.generate(at: now)
    let token = try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: now, in: session)
      let app = try AppTable.add(bundleID: app, appAppleID: appAppleID, at: now, in: session)
      return try TokenTable.issue(for: app, label: "test", at: now, in: session)
    }
    let log = RecordingLogHandler()
    var settings = Application.Settings(http: HTTPServerConfiguration(port: 0))
    settings.sources = sources
    // Who takes it is in this process too. Beside other tests on one core each step may wait for seconds.
    settings.passThroughWithin = .seconds(60)
    settings.delivery.deadline = .seconds(60)
    settings.delivery.lease = .seconds(120)
    settings.http.limits.answer = .seconds(80)
    change(&settings)
    let roots = TrustedRoots.apple.adding([try pki.trustedRoot()], for: .sandbox)
    let master = Keyring.ofTests.current
    let installation = try await Application(
      pool: pool, adapter: MessageDecoder(verifier: SignedDataVerifier(roots: roots)), keys: Keyring(current: master),
      settings: settings, clock: clock, logger: Logger(label: "test", level: .debug, handler: log))
    try installation.metricsServer?.start()
    try installation.server.start()
    let service = RunningService(
      pki: pki, base: "http://127.0.0.1:\(installation.server.port)", token: token, pool: pool, log: log,
      master: master, database: configuration, metricsPort: installation.metricsServer?.port)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for part in installation.services { group.addTask { try await part.run() } }
      do {
        try await body(service)
      } catch {
        group.cancelAll()
        throw error
      }
      group.cancelAll()
    }
  }

  /// Status and JSON body of the answer.
  func post(
    _ path: String, _ body: [UInt8], token: String? = nil, headers: [(name: String, value: String)] = []
  ) async throws -> (status: Int, body: JSONObject) {
    try await send("POST", path, body, token: token, headers: headers)
  }

  func get(_ path: String, token: String? = nil) async throws -> (status: Int, body: JSONObject) {
    try await send("GET", path, [], token: token)
  }

  func text(_ path: String) async throws -> (status: Int, text: String) {
    let response = try await client.send(ClientRequest(url: base + path, deadline: Self.patience))
    return (response.status, String(decoding: response.body, as: UTF8.self))
  }

  /// The answer as it came.
  func raw(_ method: String, _ path: String, _ body: [UInt8]) async throws -> ClientResponse {
    try await client.send(ClientRequest(method: method, url: base + path, body: body, deadline: Self.patience))
  }

  /// Registers a shared secret for the app, beside those that it has.
  func register(secret: String, name: String = "test") async throws {
    try await pool.transaction { [master] session throws(DatabaseError) in
      guard let app = try AppTable.all(in: session).first else { throw DatabaseError(.column, "no app") }
      try CredentialTable.put(
        Array(secret.utf8), kind: .sharedSecret, name: name, issuer: "", of: app,
        sealedWith: Keyring(current: master), at: Self.now, in: session)
    }
  }

  /// How many rows a table has.
  func rowCount(_ table: String) async throws -> Int {
    try await pool.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) AS rows_there FROM \(identifier: table)").first?.int("rows_there") ?? 0
    }
  }

  private func send(
    _ method: String, _ path: String, _ body: [UInt8], token: String?, headers: [(name: String, value: String)] = []
  ) async throws -> (status: Int, body: JSONObject) {
    var request = ClientRequest(
      method: method, url: base + path, headers: headers, body: body, deadline: Self.patience)
    if let token { request.headers.append(("Authorization", "Bearer \(token)")) }
    let response = try await client.send(request)
    return (response.status, (try? JSONReader.read(response.body).object) ?? [:])
  }

  /// A notification about one subscription period, with `change` applied to its parts before they are signed.
  func notification(
    _ type: String = "DID_RENEW", id: String = "2000000900000001", signedBy signer: ApplePKI? = nil,
    _ change: (inout JSONObject, inout JSONObject, inout JSONObject) -> Void = { _, _, _ in }
  ) throws -> [UInt8] {
    let pki = signer ?? pki
    let signed = Self.now - .hours(1)
    var transaction: JSONObject = [
      "transactionId": .string(id), "originalTransactionId": .string(id), "webOrderLineItemId": .string("1" + id),
      "bundleId": .string(Self.app), "productId": "monthly", "subscriptionGroupIdentifier": "1",
      "purchaseDate": .integer((signed - .days(1)).sinceEpoch),
      "expiresDate": .integer((signed + .days(29)).sinceEpoch),
      "type": "Auto-Renewable Subscription", "signedDate": .integer(signed.sinceEpoch), "environment": "Sandbox",
      "appAccountToken": "7E3F2A5C-0000-4000-8000-000000000001", "appTransactionId": .string("7" + id),
    ]
    var data: JSONObject = [
      "bundleId": .string(Self.app), "appAppleId": .integer(Self.appAppleID), "environment": "Sandbox",
    ]
    var payload: JSONObject = [
      "notificationType": .string(type), "notificationUUID": .string("\(type)-\(id)"), "version": "2.0",
      "signedDate": .integer(signed.sinceEpoch),
    ]
    change(&transaction, &data, &payload)
    if data["signedTransactionInfo"] == nil {
      data["signedTransactionInfo"] = .string(String(decoding: try pki.sign(transaction), as: UTF8.self))
    }
    if payload["data"] == nil { payload["data"] = .object(data) }
    let jws = String(decoding: try pki.sign(payload), as: UTF8.self)
    let body: JSONObject = ["signedPayload": .string(jws)]
    return body.encoded()
  }
}
