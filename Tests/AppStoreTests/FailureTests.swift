@Suite struct `A call that fails` {
  private let table = Vocabulary.embedded.apiErrors

  @Test(.enabled(if: Samples.bytes("../spec/v2.md") != nil, "no ../shared/spec beside the project"))
  func `finds every one of Apple's 87 codes in the table, and no other`() throws {
    let text = String(decoding: try #require(Samples.bytes("../spec/v2.md")), as: UTF8.self)
    let documented = text.split(separator: "\n").compactMap { line -> String? in
      let cells = line.split(separator: "|").map { $0.split(separator: " ").first.map(String.init) ?? "" }
      guard cells.count >= 3, let code = Int64(cells[0]), (4_000_000...5_999_999).contains(code) else { return nil }
      return "\(code) \(cells[1])"
    }
    #expect(documented.count == 87)
    #expect(table.rows.map { "\($0.code) \($0.name)" } == documented)
    #expect(table.rows.filter { $0.retry == .yes }.map(\.code) == [4_040_002, 4_040_004, 4_040_006, 5_000_001])
    #expect(table.rows.allSatisfy { !$0.meaning.isEmpty && !$0.next.isEmpty })
  }

  @Test func `says when to ask again, where Apple does`() {
    var failure = APIError(.rateLimited, .getTransactionInfo, "")
    failure.errorCode = 4_290_000
    #expect(failure.nextStep == failure.row?.next)
    failure.retryAt = Timestamp(1_780_000_000_000)
    #expect(failure.nextStep == "ask again at 2026-05-28T20:26:40Z")
  }

  @Test func `says which of Apple's codes it was, and is made again only where Apple takes it again`() async throws {
    for row in table.rows {
      try await withAppStore([.error(row.code)]) { scripted in
        let failure = await failure {
          try await scripted.client.send(.transactionInfo("1"), as: scripted.credentials, in: .production)
        }
        #expect(failure?.errorCode == row.code)
        #expect(failure?.row?.id == row.id)
        #expect(failure?.nextStep == row.next)
        let isAgain = row.retry != .no
        #expect(scripted.apple.asked.count == (isAgain ? 4 : 1), "\(row.code)")
        #expect(failure?.attempts == scripted.apple.asked.count)
        #expect(failure?.description.contains(row.name) == true)
      }
    }
  }

  @Test(
    arguments: [
      (.text(401, ""), .unauthorized, 1), (.text(500, "<html>"), .serverFailed, 4), (.text(503, ""), .serverFailed, 4),
      (.text(403, "no"), .refused, 1), (.error(4_999_999), .refused, 1),
      (HTTPResponse(status: 301, headers: ["Location": "http://example.com"]), .malformedAnswer, 4),
      (.text(200, "<html>"), .malformedAnswer, 4), (.json(200, Array("[]".utf8)), .malformedAnswer, 4),
      (.json(200, Array("{\"a\":".utf8)), .malformedAnswer, 4), (.text(429, ""), .rateLimited, 4),
    ] as [(HTTPResponse, APIError.Code, Int)])
  func `has a reason for each answer that is none`(
    response: HTTPResponse, code: APIError.Code, attempts: Int
  ) async throws {
    try await withAppStore([response]) { scripted in
      let failure = await failure {
        try await scripted.client.send(.transactionInfo("1"), as: scripted.credentials, in: .sandbox)
      }
      #expect(failure?.code == code)
      #expect(failure?.status == response.status)
      #expect(failure?.environment == .sandbox)
      #expect(scripted.apple.asked.count == attempts)
      #expect(scripted.apple.asked.allSatisfy { $0.target == "/sandbox/inApps/v1/transactions/1" })
      #expect(failure?.serverDate != nil)
    }
  }

  @Test func `repeats Apple's words so that a terminal shows them and does not obey them`() async throws {
    let body: JSONObject = ["errorCode": 4_000_000, "errorMessage": "no\u{1B}[2J\nmore"]
    try await withAppStore([.json(400, body.encoded())]) { scripted in
      let failure = await failure {
        try await scripted.client.send(.transactionInfo("1"), as: scripted.credentials, in: .production)
      }
      let text = try #require(failure?.description)
      #expect(text.contains("no\\u001b[2J\\u000amore"))
      #expect(!text.contains("\u{1B}") && !text.contains("\n"))
    }
  }

  @Test func `tells whoever counts of each attempt once`() async throws {
    let records = Records()
    let answers: [HTTPResponse] = [.text(503, ""), .json(["status": 21_005]), .json(["status": 0])]
    try await withAppStore(answers, observe: { records.add($0) }) { scripted in
      _ = try await scripted.client.verifyReceipt(ReceiptRequest(receiptData: "r"), app: "a")
    }
    #expect(records.statuses == [503, 200, 200])
  }

  private final class Records: Sendable {
    private let all = Mutex<[CallRecord]>([])

    var statuses: [Int?] { all.withLock { $0.map(\.status) } }
    func add(_ record: CallRecord) { all.withLock { $0.append(record) } }
  }

  @Test func `is answered in the end when what was wrong passes`() async throws {
    let answers: [HTTPResponse] = [
      .error(5_000_001), .error(4_040_002), .text(502, ""), .json(["signedTransactionInfo": "x"]),
    ]
    try await withAppStore(answers) { scripted in
      let reply = try await scripted.client.send(.transactionInfo("1"), as: scripted.credentials, in: .production)
      #expect(reply.answer.signedTransactionInfo == "x")
      #expect(reply.attempts == 4)
      // Full jitter, half of it drawn: 250 ms doubled each time.
      #expect(
        scripted.time.slept.filter { $0 >= .milliseconds(100) } == [
          .milliseconds(125), .milliseconds(250), .milliseconds(500),
        ])
    }
  }

  @Test func `is not made again where twice is not as good as once, unless Apple did not act on it`() async throws {
    let request = ExtendRenewalDateRequest(extendByDays: 1, extendReasonCode: 1, requestIdentifier: "r")
    try await withAppStore([.error(5_000_001)]) { scripted in
      let failure = await failure {
        try await scripted.client.send(.extend(request, of: "1"), as: scripted.credentials, in: .production)
      }
      #expect(failure?.isOutcomeUnknown == true)
      #expect(failure?.nextStep.contains("look before") == true)
      #expect(scripted.apple.asked.count == 1)
    }
    try await withAppStore([.error(4_040_006), .error(4_290_000), .json(["success": true])]) { scripted in
      let reply = try await scripted.client.send(
        .extend(request, of: "1"), as: scripted.credentials, in: .production)
      #expect(reply.answer.success == true)
    }
  }

  @Test(
    arguments: [
      (.text(401, ""), .unauthorized), (.error(4_000_035), .refused),
      (.error(4_290_000, retryAfter: "86400"), .rateLimited), (.text(503, ""), .serverFailed),
    ] as [(HTTPResponse, APIError.Code)])
  func `leaves unknown what an earlier attempt may have done`(
    second: HTTPResponse, code: APIError.Code
  ) async throws {
    let call = APIRequest.consumption(
      ConsumptionRequest(customerConsented: true, deliveryStatus: "DELIVERED", sampleContentProvided: false), of: "1")
    try await withAppStore([.text(503, ""), second]) { scripted in
      let failure = await failure {
        try await scripted.client.send(call, as: scripted.credentials, in: .production)
      }
      #expect(failure?.code == code)
      #expect(failure?.isOutcomeUnknown == true)
    }
    try await withAppStore([second]) { scripted in
      let failure = await failure {
        try await scripted.client.send(call, as: scripted.credentials, in: .production)
      }
      #expect(failure?.isOutcomeUnknown == (code == .serverFailed))
    }
  }

  @Test func `leaves it unknown also when the budget ends it`() async throws {
    try await withAppStore([.text(503, "")], perSecond: 0.01) { scripted in
      let failure = await failure {
        try await scripted.client.send(.finish("1"), as: scripted.credentials, in: .production)
      }
      #expect(failure?.code == .overBudget)
      #expect(failure?.isOutcomeUnknown == true)
      #expect(scripted.apple.asked.count == 1)
    }
  }

  @Test func `waits as long as Apple says, in each of the three ways, and no longer than it may`() async throws {
    let now = QuickTime().now
    let forms = ["\((now + .seconds(7)).sinceEpoch)", "7", "Thu, 28 May 2026 20:26:47 GMT"]
    #expect(HTTPDate.instant(forms[2]) == now + .seconds(7))
    for form in forms {
      try await withAppStore([.error(4_290_000, retryAfter: form), .json(["signedTransactionInfo": "x"])]) { scripted in
        let reply = try await scripted.client.send(.transactionInfo("1"), as: scripted.credentials, in: .production)
        #expect(reply.attempts == 2)
        #expect(scripted.time.now - now >= .seconds(7))
        #expect(scripted.time.now - now < .seconds(9))
      }
    }
    let later = now + .minutes(40)
    try await withAppStore([.error(4_290_000, retryAfter: "\(later.sinceEpoch)")]) { scripted in
      let failure = await failure {
        try await scripted.client.send(.transactionInfo("1"), as: scripted.credentials, in: .production)
      }
      #expect(failure == APIError(.rateLimited, .getTransactionInfo, "").with(4_290_000))
      #expect(failure?.retryAt == later)
      // The next call knows without asking.
      let next = await AppStoreTests.failure {
        try await scripted.client.send(.transactionInfo("2"), as: scripted.credentials, in: .production)
      }
      #expect(next?.code == .overBudget)
      #expect(next?.retryAt == later)
      #expect(scripted.apple.asked.count == 1)
    }
  }
}

extension APIError {
  fileprivate func with(_ errorCode: Int64) -> Self {
    var failure = self
    failure.errorCode = errorCode
    return failure
  }
}

@Suite struct `A call whose connection fails` {
  private func call(
    _ port: UInt16, limits: AppStoreClient.Limits = .init(),
    _ call: APIRequest<JSONObject> = APIRequest(.finishTransaction, path: ["transactionId": "1"])
  ) async throws -> APIError? {
    var result: APIError?
    try await withClient(port: port, limits: limits) { client, _ in
      let credentials = try testCredentials()
      result = await failure { try await client.send(call, as: credentials, in: .production) }
    }
    return result
  }

  @Test func `is made again after a reset when it may be`() async throws {
    try await withRawServer({ _ in }) { port in
      #expect(try await call(port)?.code == .interrupted)
      #expect(try await call(port)?.attempts == 4)
      let once = try await call(port, APIRequest(.requestTestNotification))
      #expect(once?.code == .interrupted)
      #expect(once?.attempts == 1)
      #expect(once?.isOutcomeUnknown == true)
    }
  }

  @Test func `is made again after half an answer`() async throws {
    try await withRawServer({ await $0.send("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"a\":1") }) { port in
      let failure = try await call(port)
      #expect(failure?.code == .interrupted)
      #expect(failure?.attempts == 4)
    }
  }

  @Test func `ends with its deadline when the answer does not come`() async throws {
    try await withRawServer({ connection in
      await connection.receiveHead()
    }) { port in
      var limits = AppStoreClient.Limits()
      limits.deadline = .milliseconds(500)
      limits.interactive = RetryPolicy(attempts: 2, within: .minutes(1))
      let failure = try await call(port, limits: limits)
      #expect(failure?.code == .interrupted)
      #expect(failure?.attempts == 2)
    }
  }

  @Test func `ends when the answer is too large`() async throws {
    try await withAppStore([.json(200, [UInt8](repeating: 0x20, count: 5_000))], limits: Self.small) { scripted in
      let failure = await failure {
        try await scripted.client.send(.transactionInfo("1"), as: scripted.credentials, in: .production)
      }
      #expect(failure?.code == .tooLarge)
      #expect(scripted.apple.asked.count == 1)
    }
  }

  private static let small: AppStoreClient.Limits = {
    var limits = AppStoreClient.Limits()
    limits.answer = 1_000
    return limits
  }()

  @Test func `is made again when nobody listens`() async throws {
    // Port 1 (tcpmux): nobody serves it any more.
    let failure = try await call(1)
    #expect(failure?.code == .unreachable)
    #expect(failure?.attempts == 4)
    #expect(failure?.isOutcomeUnknown == false)
  }

  private static let extending = APIRequest.extend(
    ExtendRenewalDateRequest(extendByDays: 1, extendReasonCode: 1, requestIdentifier: "r"), of: "1")

  /// A server that reads requests and answers none; how many it read.
  private func withSilence(_ body: (UInt16, Heads) async throws -> Void) async throws {
    let heads = Heads()
    try await withRawServer({ connection in
      heads.up()
      await connection.receiveHead()
    }) { port in try await body(port, heads) }
  }

  @Test func `has an outcome that is not known when it is cancelled in flight`() async throws {
    try await withSilence { port, heads in
      try await withClient(port: port) { client, _ in
        let credentials = try testCredentials()
        let task = Task { await failure { try await client.send(Self.extending, as: credentials, in: .production) } }
        #expect(await eventually { heads.value == 1 })
        task.cancel()
        let ended = await task.value
        #expect(ended?.code == .cancelled)
        #expect(ended?.isOutcomeUnknown == true)
        #expect(ended?.nextStep.contains("look before") == true)
      }
    }
  }

  @Test func `has an outcome that is not known when the client is shut down under it`() async throws {
    try await withSilence { port, heads in
      let http = HTTPClient()
      try await withClient(port: port, over: http) { client, _ in
        let credentials = try testCredentials()
        let task = Task { await failure { try await client.send(Self.extending, as: credentials, in: .production) } }
        #expect(await eventually { heads.value == 1 })
        await http.shutdown()
        let ended = await task.value
        #expect(ended?.code == .interrupted)
        #expect(ended?.isOutcomeUnknown == true)
        let after = await failure {
          try await client.send(Self.extending, as: credentials, in: .production)
        }
        #expect(after?.code == .unreachable)
        #expect(after?.isOutcomeUnknown == false, "nothing was sent")
      }
    }
  }

  @Test func `changes nothing twice when a kept connection dies`() async throws {
    let heads = Heads()
    try await withRawServer({ connection in
      heads.up()
      await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{\"success\":true}")
      if await !connection.receiveHead().isEmpty { heads.up() }
    }) { port in
      try await withClient(port: port) { client, _ in
        let credentials = try testCredentials()
        _ = try await client.send(.transactionInfo("1"), as: credentials, in: .production)
        _ = try await client.send(Self.extending, as: credentials, in: .production)
        #expect(heads.value == 2)
      }
    }
  }

  @Test func `is made again when TLS was not agreed upon`() async throws {
    try await withRawServer(readsHead: false, { _ in }) { port in
      try await withClient(port: port, scheme: "https") { client, _ in
        let credentials = try testCredentials()
        let failure = await failure { try await client.send(Self.extending, as: credentials, in: .production) }
        #expect(failure?.code == .unreachable)
        #expect(failure?.attempts == 4)
        #expect(failure?.isOutcomeUnknown == false)
      }
    }
  }

  private final class Heads: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .acquiring) }
    func up() { count.add(1, ordering: .acquiringAndReleasing) }
  }

  @Test func `ends when its task is cancelled`() async throws {
    try await withAppStore([.text(503, "")]) { scripted in
      let (client, credentials) = (scripted.client, scripted.credentials)
      let task = Task {
        // From within: from outside it might come when all attempts are over.
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        return await failure { try await client.send(.finish("1"), as: credentials, in: .production) }
      }
      #expect(await task.value?.code == .cancelled)
    }
  }
}
