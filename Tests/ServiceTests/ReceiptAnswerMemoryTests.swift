@testable import Service

/// Apple in the sandbox, which answers at once.
private struct PromptApple: HTTPHandler {
  let body: [UInt8]

  func respond(to request: HTTPRequest) async -> HTTPResponse { .json(200, body) }
}

/// A door that tests open.
private final class Door: Sendable {
  private let state = Atomic(false)

  var isOpen: Bool { state.load(ordering: .acquiring) }
  func open() { state.store(true, ordering: .releasing) }
  func pass() async { _ = await eventually { isOpen } }
}

@Suite struct `The memory for Apple's answers to verifyReceipt` {
  private static let length = 900_000
  private static let long = Array("{\"status\":21002,\"x\":\"".utf8) + filling + Array("\"}".utf8)
  private static let filling = [UInt8](repeating: 0x78, count: length - 23)
  private static let stranger = "203.0.113.9"

  /// Runs a service of which strangers can use 2 MiB for bodies, and Apple and the back ends 1 MiB each at any time.
  ///
  /// Apple's answers in Production lack their last byte until `door` is open.
  private func with(_ body: (RunningService, _ door: Door) async throws -> Void) async throws {
    #expect(Self.long.count == Self.length)
    let door = Door()
    let sandbox = HTTPServer(
      HTTPServerConfiguration(port: 0, stopWithin: .milliseconds(0)), handler: PromptApple(body: Self.long)
    ) { _ in }
    try sandbox.start()
    var callers = CallerClassifier()
    callers.proxies = [try #require(Network("127.0.0.1/32"))]
    callers.backEnds = [try #require(Network("192.0.2.0/24"))]
    let named = callers
    try await withRawServer { connection in
      let most = String(decoding: Self.long.dropLast(), as: UTF8.self)
      await connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.length)\r\n\r\n" + most)
      await door.pass()
      await connection.send("}")
    } _: { port in
      var upstream = VerifyReceiptUpstream()
      upstream.production = "http://127.0.0.1:\(port)/verifyReceipt"
      upstream.sandbox = "http://127.0.0.1:\(sandbox.port)/verifyReceipt"
      upstream.deadline = .seconds(60)
      let chosen = upstream
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await sandbox.run() }
        defer { group.cancelAll() }
        try await RunningService.with({
          ($0.callers, $0.verifyReceipt, $0.http.limits.bodiesInFlight) = (named, chosen, 4 << 20)
          $0.http.limits.answer = .seconds(80)
        }) { service in
          defer { door.open() }
          try await body(service, door)
        }
      }
    }
  }

  /// Apple's answer to a call from an address.
  ///
  /// Over a connection of its own: on one that is kept, curl lets a call wait for the head of the answer before.
  private func call(
    _ service: RunningService, _ path: String, from address: String, over client: HTTPClient = HTTPClient()
  ) async throws -> [UInt8] {
    try await client.send(
      ClientRequest(
        method: "POST", url: service.base + path, headers: [("X-Forwarded-For", address)],
        body: Array(#"{"receipt-data":"AAAA"}"#.utf8), deadline: .seconds(90))
    ).body
  }

  /// What a class of callers holds, as the metrics say.
  private func held(_ service: RunningService, by caller: CallerClass) async throws -> Int {
    let start = "switchyard_http_body_bytes{caller=\"\(caller.rawValue)\"} "
    let line = try await service.text("/metrics").text.split(separator: "\n").first { $0.hasPrefix(start) }
    return Int(line?.dropFirst(start.count) ?? "") ?? -1
  }

  @Test func `is limited for strangers while they arrive, and leaves others theirs`() async throws {
    try await with { service, door in
      try await withThrowingTaskGroup(of: [UInt8].self) { group in
        for count in 1...2 {
          group.addTask { try await call(service, "/verifyReceipt", from: Self.stranger) }
          let isHeld = try await eventually { try await held(service, by: .anonymous) >= count * Self.length }
          #expect(isHeld)
        }
        for _ in 0..<3 {
          let answer = try await call(service, "/verifyReceipt", from: "203.0.113.10")
          #expect(answer == Array("{\"status\":21005}".utf8))
          #expect(try await held(service, by: .anonymous) <= 2 << 20)
        }
        let count = "switchyard_verify_receipt_calls_total{app=\"\",environment=\"Production\",status=\"noRoom\"} 3"
        #expect(try await service.text("/metrics").text.contains(count))
        for address in ["192.0.2.1", "17.1.2.3"] {
          #expect(try await call(service, "/sandbox/verifyReceipt", from: address) == Self.long, "\(address)")
        }
        door.open()
        for try await answer in group { #expect(answer == Self.long) }
      }
      let isEmpty = try await eventually {
        var all = 0
        for caller in CallerClass.allCases { all += abs(try await held(service, by: caller)) }
        return all == 0
      }
      #expect(isEmpty)
      #expect(try await call(service, "/sandbox/verifyReceipt", from: Self.stranger) == Self.long)
    }
  }

  @Test func `comes back from clients that vanish`() async throws {
    try await with { service, door in
      let leaving = HTTPClient()
      await withTaskGroup(of: Void.self) { group in
        group.addTask { _ = try? await call(service, "/verifyReceipt", from: Self.stranger, over: leaving) }
        let isHeld = try? await eventually { try await held(service, by: .anonymous) >= Self.length }
        #expect(isHeld == true)
        await leaving.shutdown()
      }
      door.open()
      let isBack = try await eventually { try await held(service, by: .anonymous) == 0 }
      #expect(isBack)
    }
  }

  @Test func `is taken by the values of one long answer at a time, and short ones do not wait`() async throws {
    let thread = WorkerThread(label: "test")
    let reader = ReceiptAnswerReader(thread: thread)
    let (begun, end, isRead) = (Door(), Door(), Door())
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        _ = await thread.run {
          begun.open()
          while !end.isOpen { usleep(1_000) }
        }
      }
      await begun.pass()
      group.addTask {
        #expect((try? await reader.object(of: Self.long))?["status"]?.integer == 21002)
        isRead.open()
      }
      let short = Array("{\"status\":21004}".utf8)
      #expect((try? await reader.object(of: short))?["status"]?.integer == 21004)
      try? await Task.sleep(for: .milliseconds(500))
      #expect(!isRead.isOpen)
      end.open()
    }
    #expect(isRead.isOpen)
  }
}
