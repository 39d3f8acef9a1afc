import AppStore
import HTTPServer
import JSON
import Mappings
import Support
import Testing
import Time
import Wire

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
    ] as [(HTTPResponse, CallFailure.Code, Int)])
  func `has a reason for each answer that is none`(
    response: HTTPResponse, code: CallFailure.Code, attempts: Int
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
      #expect(failure == CallFailure(.rateLimited, .getTransactionInfo, "").with(4_290_000))
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

extension CallFailure {
  fileprivate func with(_ errorCode: Int64) -> Self {
    var failure = self
    failure.errorCode = errorCode
    return failure
  }
}

@Suite struct `A call whose connection fails` {
  private func call(
    _ port: UInt16, limits: AppStoreClient.Limits = .init(), _ call: Call<Void> = .finish("1")
  ) async throws -> CallFailure? {
    var result: CallFailure?
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
      let once = try await call(port, .uploadMessage(UploadMessageRequestBody(header: "h", body: "b"), as: "m"))
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
      limits.deadline = .milliseconds(60)
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

  @Test func `ends when its task is cancelled`() async throws {
    try await withAppStore([.text(503, "")]) { scripted in
      let (client, credentials) = (scripted.client, scripted.credentials)
      let task = Task { await failure { try await client.send(.finish("1"), as: credentials, in: .production) } }
      task.cancel()
      #expect(await task.value?.code == .cancelled)
    }
  }
}
