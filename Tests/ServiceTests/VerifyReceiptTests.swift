/// Apple's endpoint, answering what it is told to and keeping what it was sent.
private final class ScriptedApple: HTTPHandler {
  struct Asked: Sendable {
    let path: String
    let body: [UInt8]
    let type: String?
  }

  private let answer: Mutex<HTTPResponse?>
  let asked = Mutex<[Asked]>([])

  init(_ answer: HTTPResponse?) { self.answer = Mutex(answer) }

  func say(_ response: HTTPResponse?) { answer.withLock { $0 = response } }

  func admit(_ head: HTTPRequestHead) -> HTTPAdmission { .admit(bodyLimit: 16 << 20) }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    asked.withLock { $0.append(Asked(path: request.path, body: request.body, type: request.headers["Content-Type"])) }
    if let answer = answer.withLock({ $0 }) { return answer }
    // Late: until whoever asked has given up, or the test is over.
    try? await Task.sleep(for: .seconds(600))
    return HTTPResponse(status: 500)
  }
}

@Suite struct `POST verifyReceipt` {
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"

  private func with(
    _ answer: HTTPResponse?, deadline: Interval = .seconds(70), repeatedEvery: Interval = .minutes(1),
    _ body: (RunningService, ScriptedApple) async throws -> Void
  ) async throws {
    let apple = ScriptedApple(answer)
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .milliseconds(0)), handler: apple) { _ in }
    try server.start()
    var upstream = VerifyReceiptUpstream()
    upstream.production = "http://127.0.0.1:\(server.port)/verifyReceipt"
    upstream.sandbox = "http://127.0.0.1:\(server.port)/sandboxed"
    upstream.deadline = deadline
    upstream.repeatedEvery = repeatedEvery
    let chosen = upstream
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      defer { group.cancelAll() }
      try await RunningService.with({ $0.verifyReceipt = chosen }) { try await body($0, apple) }
    }
  }

  private func request(_ receipt: String = "AAAA") -> [UInt8] {
    Array(#"{"receipt-data":"\#(receipt)","password":"\#(Self.secret)"}"#.utf8)
  }

  private func answer(_ text: String, status: Int = 200, type: String = "application/json") -> HTTPResponse {
    HTTPResponse(status: status, headers: ["Content-Type": type], body: Array(text.utf8))
  }

  @Test(arguments: [
    (200, "application/json;charset=UTF-8", "{ \"status\" : 21007 }", "21007"),
    (200, "application/json", "{\"status\":21004}\n", "21004"),
    (200, "application/json", "{\"status\":21104,\"is_retryable\":true}", "211xx"),
    (200, "text/html", "<html>busy</html>", "unreadable"), (503, "text/plain", "away", "http5xx"),
    (200, "application/json", "{\"status\":99}", "other"),
  ])
  func `passes Apple's answer on byte for byte, and stores nothing of errors`(
    status: Int, type: String, text: String, label: String
  ) async throws {
    try await with(answer(text, status: status, type: type)) { service, apple in
      let given = try await service.raw("POST", "/verifyReceipt", request())
      #expect(given.status == status && given.body == Array(text.utf8))
      #expect(given.headers["Content-Type"] == type)
      let asked = try #require(apple.asked.withLock { $0.first })
      #expect(asked.path == "/verifyReceipt" && asked.body == request())
      let metrics = try await service.text("/metrics").text
      #expect(
        metrics.contains(
          ",environment=\"Production\",status=\"\(label)\"} 1"))
      #expect(try await service.rowCount("inbox") == 0)
      #expect(try await service.rowCount("quarantine") == 0)
      let lines = service.log.records.map { "\($0)" }.joined()
      #expect(!lines.contains(Self.secret) && !lines.contains("AAAA"))
    }
  }

  @Test func `sends each endpoint's calls to its own host, megabytes too`() async throws {
    try await with(answer("{\"status\":21002}")) { service, apple in
      // Apple's own limit, to the byte.
      let large = request(String(repeating: "A", count: 3_145_728 - request("").count))
      #expect(try await service.post("/sandbox/verifyReceipt", large).body["status"] == 21002)
      #expect(apple.asked.withLock { $0.map(\.path) } == ["/sandboxed"])
      #expect(apple.asked.withLock { $0.first?.body } == large)
      let tooLarge = try await service.post("/verifyReceipt", large + [0x20])
      #expect(tooLarge.status == 413)
      #expect(apple.asked.withLock { $0.count } == 1)
    }
  }

  @Test func `says what Apple says when there is no answer, or no POST`() async throws {
    try await with(nil, deadline: .seconds(1)) { service, apple in
      let late = try await service.raw("POST", "/verifyReceipt", request())
      #expect(late.status == 200 && late.body == Array("{\"status\":21005}".utf8))
      #expect(try await service.get("/verifyReceipt").body["status"] == 21000)
      #expect(await eventually { apple.asked.withLock { $0.count } == 1 })
      #expect(try await service.text("/metrics").text.contains("status=\"timedOut\"} 1"))
    }
    var down = VerifyReceiptUpstream()
    down.production = "http://127.0.0.1:1/verifyReceipt"
    let chosen = down
    try await RunningService.with({ $0.verifyReceipt = chosen }) { service in
      let answer = try await service.post("/verifyReceipt", request())
      let metrics = try await service.text("/metrics").text
      #expect(answer.status == 200 && answer.body["status"] == 21005)
      #expect(metrics.contains("status=\"couldNotConnect\"} 1"))
    }
  }

  /// Megabytes of brackets took 28 times their size in memory.
  @Test func `knows the app of a long call by its secret, and passes on what it does not read`() async throws {
    try await with(answer("{\"status\":21002}")) { service, apple in
      try await service.register(secret: Self.secret)
      let brackets = String(repeating: "[[0]],", count: 500_000)
      let hostile = Array(#"{"a":[\#(brackets)0],"password":"\#(Self.secret)"}"#.utf8)
      #expect(try await service.post("/verifyReceipt", hostile).body["status"] == 21002)
      #expect(apple.asked.withLock { $0.first?.body } == hostile)
    }
  }

  @Test func `fills no log while Apple does not answer`() async throws {
    var down = VerifyReceiptUpstream()
    down.production = "http://127.0.0.1:1/verifyReceipt"
    let chosen = down
    try await RunningService.with({ $0.verifyReceipt = chosen }) { service in
      for _ in 0..<5 { #expect(try await service.post("/verifyReceipt", request()).body["status"] == 21005) }
      let lines = service.log.records.filter { $0.message == "verifyReceipt was not answered" }
      #expect(lines.count == 1)
      #expect(lines.first?.metadata["callsSinceLastLine"] == "1")
      let metrics = try await service.text("/metrics").text
      #expect(metrics.contains("status=\"couldNotConnect\"} 5"))
    }
  }

  @Test func `only counts receipts of unknown apps, and of apps that are in legacy`() async throws {
    let valid = #"{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"BUNDLE","in_app":[]}}"#
    try await with(answer(valid.replacing("BUNDLE", with: "com.example.other"))) { service, apple in
      #expect(try await service.post("/sandbox/verifyReceipt", request()).body["status"] == 0)
      // An app that is not known is looked up once more, after the answer.
      #expect(
        try await eventually { try await service.text("/metrics").text.contains("outcome=\"unknownApp\"} 1") })
      try await service.pool.read { session throws(DatabaseError) in
        _ = try session.execute("UPDATE flags SET stage = 'legacy'")
      }
      apple.say(answer(valid.replacing("BUNDLE", with: RunningService.app)))
      // The registry reads the stage again within seconds.
      let isCounted = await eventually(within: .seconds(90)) {
        _ = try? await service.post("/sandbox/verifyReceipt", request())
        return (try? await service.text("/metrics").text.contains("outcome=\"stageLegacy\"}")) == true
      }
      #expect(isCounted)
      #expect(try await service.text("/metrics").text.contains("outcome=\"unknownApp\"} 1"))
    }
  }

  @Test func `keeps a client waiting for a sick database no longer than it says`() async throws {
    let valid = #"{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"\#(RunningService.app)","in_app":[]}}"#
    try await with(answer(valid)) { service, _ in
      let blocker = try await Connection.open(service.database)
      try await blocker.read { session throws(DatabaseError) in
        try session.run("LOCK TABLES inbox WRITE, quarantine WRITE")
      }
      #expect(try await service.post("/sandbox/verifyReceipt", request()).body["status"] == 0)
      #expect(try await service.text("/metrics").text.contains("outcome=\"late\"} 1"))
      await blocker.close()
      // What was late is written all the same.
      let isKept = await eventually(within: .seconds(90)) {
        let kept = [try? await service.rowCount("inbox"), try? await service.rowCount("quarantine")]
        return kept.compactMap(\.self).reduce(0, +) == 1
      }
      #expect(isKept)
    }
  }

  @Test func `records answers about an app that was registered a moment ago`() async throws {
    let bundleID = "com.example.new"
    let row =
      #"{"product_id":"coins","transaction_id":"1","original_transaction_id":"1","purchase_date_ms":"1770000000000"}"#
    let valid = #"{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"\#(bundleID)","in_app":[\#(row)]}}"#
    try await with(answer(valid)) { service, _ in
      try await service.pool.transaction { session throws(DatabaseError) in
        _ = try AppTable.add(bundleID: bundleID, appAppleID: nil, at: RunningService.now, in: session)
      }
      #expect(try await service.post("/sandbox/verifyReceipt", request()).body["status"] == 0)
      let isStored = try await eventually {
        try await service.text("/metrics").text.contains("outcome=\"stored\"} 1")
      }
      #expect(isStored)
      let rows = [try await service.rowCount("purchases"), try await service.rowCount("seeds")]
      #expect(rows == [1, 1])
    }
  }

  /// Whoever posts a receipt again and again must not fill the inbox, and the last word must not be lost.
  @Test(arguments: [Interval.hours(1), .seconds(1)])
  func `records answers that say the same once in a while`(every: Interval) async throws {
    func valid(_ number: Int, product: String = "coins") -> HTTPResponse {
      let row =
        #"{"product_id":"\#(product)","transaction_id":"1","original_transaction_id":"1","purchase_date_ms":"1770000000000"}"#
      return answer(
        #"{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"\#(RunningService.app)","in_app":[\#(row)],"request_date_ms":"17700000\#(10_000 + number)"}}"#
      )
    }
    try await with(valid(0), repeatedEvery: every) { service, apple in
      for number in 0..<6 {
        apple.say(valid(number))
        #expect(try await service.post("/sandbox/verifyReceipt", request()).body["status"] == 0)
      }
      let metrics = try await service.text("/metrics").text
      if every > .minutes(1) {
        let isStored = try await eventually { try await service.rowCount("inbox") == 1 }
        #expect(isStored)
        #expect(metrics.contains("outcome=\"repeated\"} 5"))
        apple.say(valid(6, product: "gems"))
        #expect(try await service.post("/sandbox/verifyReceipt", request()).body["status"] == 0)
        let isKept = try await eventually { try await service.rowCount("inbox") == 2 }
        #expect(isKept)
      } else {
        // However many fell into one second, the last one is recorded.
        let last = "17700000\(10_000 + 5)"
        let isKept = try await eventually {
          try await service.pool.read { session throws(DatabaseError) in
            try InboxTable.newest(limit: 100, digestPrefix: nil, in: session).contains {
              String(decoding: $0.message.body, as: UTF8.self).contains(last)
            }
          }
        }
        #expect(isKept)
      }
    }
  }

  @Test func `records the answer about a customer of many years, of more than a megabyte`() async throws {
    let rows = (0..<6_000).map { number in
      #"{"product_id":"coins","quantity":"1","transaction_id":"\#(70_000 + number)","original_transaction_id":"\#(70_000 + number)","purchase_date_ms":"1770000000000","original_purchase_date_ms":"1770000000000"}"#
    }.joined(separator: ",")
    let long =
      #"{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"\#(RunningService.app)","in_app":[\#(rows)]}}"#
    #expect(long.utf8.count > 1 << 20)
    try await with(answer(long)) { service, _ in
      #expect(try await service.raw("POST", "/sandbox/verifyReceipt", request()).body == Array(long.utf8))
      let isStored = try await eventually(within: .seconds(90)) { try await service.rowCount("purchases") == 6_000 }
      #expect(isStored)
      #expect(try await !service.text("/metrics").text.contains("status=\"unreadable\"}"))
    }
  }

  @Test func `keeps of an answer that it cannot read which endpoint gave it`() async throws {
    let name = String(repeating: "x", count: 300)
    let flat =
      #"{"status":0,"receipt":{"bid":"\#(RunningService.app)","product_id":"\#(name)","transaction_id":"1","original_transaction_id":"1","purchase_date_ms":"1770000000000"}}"#
    try await with(answer(flat)) { service, _ in
      #expect(try await service.post("/sandbox/verifyReceipt", request()).body["status"] == 0)
      // A client waits only so long for the commit.
      let isKept = try await eventually { try await service.rowCount("quarantine") == 1 }
      #expect(isKept)
      let kept = try await service.pool.read { session throws(DatabaseError) in
        try QuarantineTable.page(after: nil, code: nil, digestPrefix: nil, limit: 2, in: session)
      }
      #expect(kept.map(\.message.claim) == [SubmissionMetadata(environment: .sandbox)])
    }
  }
}
