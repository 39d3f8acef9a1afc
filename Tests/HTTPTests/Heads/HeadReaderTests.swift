@Suite struct `A request` {
  @Test(arguments: AmbiguousRequest.all)
  func `is read in one way, or refused for a reason`(request: AmbiguousRequest) {
    for part in [request.bytes.count, 1, 2, 7] {
      #expect(Reading(of: request.bytes, inPartsOf: part) == request.reading, "in parts of \(part)")
    }
  }

  @Test func `has every fault in the corpus or against a limit`() {
    let shown = Set(
      AmbiguousRequest.all.compactMap { if case .refused(let fault) = $0.reading { fault } else { nil } })
    let limits: Set<RequestParseError> = [
      .requestLineTooLong, .fieldTooLong, .tooManyFields, .headTooLong, .chunkLineTooLong, .trailerTooLong,
    ]
    #expect(shown.union(limits) == Set(RequestParseError.allCases))
    #expect(Set(AmbiguousRequest.all.map(\.text)).count == AmbiguousRequest.all.count)
    #expect(AmbiguousRequest.all.count >= 80)
  }

  /// The row, and what it becomes with one byte more.
  @Test(arguments: [
    ("GET /\(String.x(86)) HTTP/1.1\r\n", "GET /\(String.x(87)) HTTP/1.1\r\n", RequestParseError.requestLineTooLong),
    ("GET / HTTP/1.1\r\nX: \(String.x(97))\r\n", "GET / HTTP/1.1\r\nX: \(String.x(98))\r\n", .fieldTooLong),
    ("GET / HTTP/1.1\r\nA:1\r\nB:2\r\nC:3\r\n", "GET / HTTP/1.1\r\nA:1\r\nB:2\r\nC:3\r\nD:4\r\n", .tooManyFields),
    (
      "GET / HTTP/1.1\r\nA:\(String.x(98))\r\nB:\(String.x(80))\r\n",
      "GET / HTTP/1.1\r\nA:\(String.x(98))\r\nB:\(String.x(81))\r\n", .headTooLong
    ),
    (chunked("1;\(String.x(1_023))\r\nx\r\n"), chunked("1;\(String.x(1_024))\r\nx\r\n"), .chunkLineTooLong),
    (
      chunked("1;\(String.x(1_000))\r\nx\r\n1;\(String.x(22))\r\nx\r\n"),
      chunked("1;\(String.x(1_000))\r\nx\r\n1;\(String.x(23))\r\nx\r\n"), .chunkLineTooLong
    ),
    (chunked("0\r\nX:\(String.x(1_022))\r\n"), chunked("0\r\nX:\(String.x(1_023))\r\n"), .trailerTooLong),
  ])
  func `is refused one byte beyond a limit`(within: String, beyond: String, fault: RequestParseError) {
    let limits = small { ($0.head, $0.line, $0.fields) = (200, 100, 3) }
    for part in [10_000, 1, 7] {
      #expect(Reading(of: Array(within.utf8), inPartsOf: part, limits: limits) == .unfinished, "in parts of \(part)")
      let refused = Reading(of: Array(beyond.utf8), inPartsOf: part, limits: limits)
      #expect(refused == .refused(fault), "in parts of \(part)")
    }
  }

  @Test(arguments: [
    ("HTTP/1.1", "X-A: b", true), ("HTTP/1.1", "Connection: close", false), ("HTTP/1.1", "connection: CLOSE", false),
    ("HTTP/1.1", "Connection: keep-alive", true), ("HTTP/1.1", "Connection: keep-alive , close", false),
    ("HTTP/1.1", "Connection: upgrade\r\nConnection:\tclose\t", false), ("HTTP/1.1", "Connection: closed", true),
    ("HTTP/1.0", "X-A: b", false), ("HTTP/1.0", "Connection: keep-alive", false),
  ])
  func `says whether another may follow`(version: String, field: String, keeps: Bool) throws {
    var reader = HeadReader(limits: HTTPServerLimits())
    let head = try reader.read(Array("GET / \(version)\r\nHost: x\r\n\(field)\r\n\r\n".utf8).span)
    #expect(head?.keepsConnection == keeps)
  }

  @Test(arguments: [
    ("HTTP/1.1", "Content-Length: 1\r\nExpect: 100-continue", true),
    ("HTTP/1.1", "Transfer-Encoding: chunked\r\nexpect: 100-Continue", true),
    ("HTTP/1.1", "Expect: 100-continue", false), ("HTTP/1.1", "Content-Length: 1\r\nExpect: more", false),
    ("HTTP/1.0", "Content-Length: 1\r\nExpect: 100-continue", false),
  ])
  func `says whether its client waits to be told to continue`(version: String, fields: String, waits: Bool) throws {
    var reader = HeadReader(limits: HTTPServerLimits())
    let head = try reader.read(Array("POST / \(version)\r\nHost: x\r\n\(fields)\r\n\r\n".utf8).span)
    #expect(head?.awaitsContinue == waits)
  }

  @Test(arguments: [10_000, 1, 3])
  func `follows the one before it on the same connection`(part: Int) {
    let bytes = Array(
      "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none\(chunked("3\r\ntwo\r\n0\r\n\r\n"))GET /3 HTTP/1.1\r\nHost : x\r\n"
        .utf8)
    var stream = RequestStream(limits: HTTPServerLimits())
    var seen: [String] = []
    var arrived = 0
    var body: [UInt8] = []
    while seen.count < 10 {
      switch stream.next() {
      case .needsMore:
        guard arrived < bytes.count else {
          Issue.record("waits for more after \(seen)")
          return
        }
        let end = min(bytes.count, arrived + part)
        stream.append(bytes.span.extracting(arrived..<end))
        arrived = end
      case .head(let head): seen.append(head.path)
      case .body(let range): body += stream.buffer[range]
      case .end:
        seen.append(String(decoding: body, as: UTF8.self))
        body = []
      case .fault(let fault): seen.append(fault.rawValue)
      }
    }
    #expect(seen.prefix(4) == ["/1", "one", "/", "two"])
    // A fault is final, whatever is appended.
    #expect(Set(seen.dropFirst(4)) == ["spaceBeforeColon"])
  }
}

private func chunked(_ body: String) -> String {
  "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
}
