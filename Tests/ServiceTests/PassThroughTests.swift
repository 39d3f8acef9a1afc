/// An old back end on a free port, which answers with one status and remembers what it heard.
final class Listener: HTTPHandler {
  private let status: Int
  private let isHeld: @Sendable (HTTPRequest) -> Bool
  private let heard = Mutex<[HTTPRequest]>([])

  /// - Parameter isHeld: which requests it never answers.
  init(_ status: Int, holding isHeld: @escaping @Sendable (HTTPRequest) -> Bool = { _ in false }) {
    self.status = status
    self.isHeld = isHeld
  }

  var requests: [HTTPRequest] { heard.withLock { $0 } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    heard.withLock { $0.append(request) }
    // Until whoever asked has given up, or the test is over.
    if isHeld(request) { try? await Task.sleep(for: .seconds(600)) }
    return HTTPResponse(status: status)
  }

  /// Runs `body` with its URL.
  func listening(_ body: (String) async throws -> Void) async throws {
    var configuration = HTTPServerConfiguration(port: 0, stopWithin: .milliseconds(0))
    configuration.limits.answer = .seconds(600)
    let server = HTTPServer(configuration, handler: self) { _ in }
    try server.start()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      do { try await body("http://127.0.0.1:\(server.port)/apple") } catch {
        group.cancelAll()
        throw error
      }
      group.cancelAll()
    }
  }
}

extension RunningService {
  /// Names the old back end, and moves the app to a stage.
  func set(_ stage: Stage?, url: String) async throws {
    try await pool.transaction { session throws(DatabaseError) in
      let (scope, flag) = try Self.sandbox(in: session)
      try DestinationTable.setLegacy(url, of: scope, at: Self.now, in: session)
      guard let stage else { return }
      _ = try StageTable.advance(scope, from: flag, to: stage, at: Self.now, in: session)
    }
  }

  private static func sandbox(in session: Session) throws(DatabaseError) -> (AppScope, StageRecord) {
    guard let app = try AppTable.all(in: session).first else { throw DatabaseError(.column, "no app") }
    let scope = AppScope(app: app.id, environment: .sandbox)
    guard let flag = try StageTable.all(in: session)[scope] else { throw DatabaseError(.column, "no flag") }
    return (scope, flag)
  }

  fileprivate func count(_ sql: SQL) async throws -> Int {
    try await pool.read { session throws(DatabaseError) in try session.query(sql).first?.int(0) ?? -1 }
  }
}

@Suite struct `The stage legacy` {
  @Test(arguments: [200, 204, 301, 400, 410, 500, 503])
  func `passes a notification through as it came and gives the old back end's status back`(status: Int) async throws {
    let listener = Listener(status)
    try await listener.listening { url in
      try await RunningService.with { service in
        try await service.set(.legacy, url: url)
        let body = try service.notification()
        // Learned by the commit at the latest: an old stage is refused there.
        let answer = try await service.post("/notifications", body, headers: [("Content-Type", "application/json")])
        #expect(answer.status == status)
        #expect(listener.requests.map(\.body) == [body])
        #expect(listener.requests.first?.head.headers["Content-Type"] == "application/json")
        #expect(try await service.count("SELECT COUNT(*) FROM inbox") == 0)
        #expect(try await service.count("SELECT COUNT(*) FROM quarantine") == 0)
        #expect(try await service.count("SELECT COUNT(*) FROM outbox") == 0)
        let metrics = try await service.text("/metrics").text
        #expect(metrics.contains("switchyard_passthrough_notifications_total"))
        #expect(metrics.contains("status=\"\(status)\""))
      }
    }
  }

  @Test func `passes a V1 body through with its password, by the app it names`() async throws {
    let listener = Listener(200)
    try await listener.listening { url in
      try await RunningService.with { service in
        try await service.set(.legacy, url: url)
        _ = try await service.post("/notifications", try service.notification())
        let body = Array(
          #"{"notification_type":"DID_RENEW","password":"s3cret","environment":"Sandbox","bid":"\#(RunningService.app)"}"#
            .utf8)
        #expect(try await service.post("/notifications", body).status == 200)
        #expect(listener.requests.last?.body == body)
      }
    }
  }

  @Test(arguments: [("5ec7e7", 200, 1), ("another", 200, 0)])
  func `knows the app of a V1 body without a name by its secret`(
    password: String, status: Int, heard: Int
  ) async throws {
    let listener = Listener(200)
    try await listener.listening { url in
      try await RunningService.with { service in
        try await service.set(.legacy, url: url)
        try await service.register(secret: "5ec7e7")
        let body = Array(#"{"notification_type":"RENEWAL","password":"\#(password)","environment":"Sandbox"}"#.utf8)
        for _ in 0..<2 { #expect(try await service.post("/notifications", body).status == status) }
        #expect(listener.requests.map(\.body) == Array(repeating: body, count: 2 * heard))
        #expect(try await service.rowCount("inbox") == 0)
        #expect(try await service.rowCount("quarantine") == 1 - heard)
      }
    }
  }

  @Test func `answers 503 when the old back end is not there`() async throws {
    try await RunningService.with { service in
      try await service.set(.legacy, url: "http://127.0.0.1:1/gone")
      let answer = try await service.post("/notifications", try service.notification())
      #expect(answer.status == 503)
      #expect(answer.body["error"]?.object?["code"] == "notPassedThrough")
      #expect(try await service.count("SELECT COUNT(*) FROM inbox") == 0)
    }
  }
}

extension `The stage legacy` {
  @Test func `answers 503 when the old back end is too slow, be it that it dribbles`() async throws {
    let dribble: @Sendable (RawConnection) async -> Void = { connection in
      await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n")
      let end = ContinuousClock.now + .seconds(2)
      while ContinuousClock.now < end {
        await connection.send("x")
        try? await Task.sleep(for: .milliseconds(10))
      }
    }
    try await withRawServer(dribble) { port in
      try await RunningService.with({ $0.passThroughWithin = .milliseconds(300) }) { service in
        try await service.set(.legacy, url: "http://127.0.0.1:\(port)/slow")
        let answer = try await service.post("/notifications", try service.notification())
        #expect(answer.status == 503)
        #expect(answer.body["error"]?.object?["code"] == "notPassedThrough")
        #expect(service.log.records.contains { $0.metadata["reason"] == "no answer: timedOut" })
      }
    }
  }

  @Test func `gives a message the webhook-id that it has in record`() async throws {
    let listener = Listener(200)
    try await listener.listening { url in
      try await RunningService.with { service in
        try await service.set(.legacy, url: url)
        let body = try service.notification()
        #expect(try await service.post("/notifications", body).status == 200)
        try await service.set(.record, url: url)
        // This process may hear of the stage a moment later.
        let isStored = try await eventually(within: .seconds(90)) {
          try await service.post("/notifications", body).body["status"] == "stored"
        }
        #expect(isStored)
        let isForwarded = try await eventually(within: .seconds(90)) {
          try await service.count("SELECT COUNT(*) FROM outbox WHERE state = 1") == 1
        }
        #expect(isForwarded)
        let ids = Set(listener.requests.map { $0.head.headers["webhook-id"] ?? "" })
        #expect(ids.count == 1 && ids.first?.hasPrefix("msg_") == true)
      }
    }
  }
}

@Suite struct `The stage record` {
  @Test func `stores, answers 200 and forwards, also what it sets aside`() async throws {
    let listener = Listener(200)
    try await listener.listening { url in
      try await RunningService.with { service in
        try await service.set(nil, url: url)
        let good = try service.notification()
        let legacy = Array(
          #"{"notification_type":"DID_RENEW","environment":"Sandbox","bid":"\#(RunningService.app)"}"#.utf8)
        #expect(try await service.post("/notifications", good).status == 200)
        #expect(try await service.post("/notifications", good).status == 200)
        #expect(try await service.post("/notifications", legacy).status == 200)
        let isHeard = await eventually { listener.requests.count >= 2 }
        #expect(isHeard)
        #expect(Set(listener.requests.map(\.body)) == [good, legacy])
        let isSettled = try await eventually {
          try await service.count("SELECT COUNT(*) FROM outbox WHERE state = 1") == 2
        }
        #expect(isSettled)
        let ids = listener.requests.compactMap { $0.head.headers["webhook-id"] }
        #expect(Set(ids).count == 2 && ids.count == 2)
      }
    }
  }

  @Test func `forwards a V1 body byte for byte`() async throws {
    let listener = Listener(200)
    try await listener.listening { url in
      try await RunningService.with { service in
        try await service.set(nil, url: url)
        try await service.register(secret: "5ec7e75ec7e7")
        let row =
          #"{"product_id":"coins","transaction_id":"1","original_transaction_id":"1","purchase_date_ms":"1770000000000"}"#
        let body = Array(
          """
          { "notification_type" : "DID_RENEW",\t"password":"5ec7e75ec7e7", "environment":"Sandbox", \
          "bid":"\(RunningService.app)", "unified_receipt":{"status":0,"environment":"Sandbox","latest_receipt_info":[\(row)]}}
          """.utf8)
        // As Apple does, until it hears 200.
        let isTaken = try await eventually { try await service.post("/notifications", body).status == 200 }
        #expect(isTaken)
        #expect(await eventually { !listener.requests.isEmpty })
        #expect(listener.requests.map(\.body) == [body])
      }
    }
  }
}
