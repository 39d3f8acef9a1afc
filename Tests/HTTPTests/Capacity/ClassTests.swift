/// Apple is 127.0.0.1, the operator's back end 127.0.0.3; everybody else is a stranger.
private func classify(_ peer: PeerAddress) -> CallerClass {
  switch peer.bytes.last {
  case 1: .apple
  case 3: .known
  case _: .anonymous
  }
}

private let quarters: [CallerClass: Int] = [.apple: 25, .known: 25, .anonymous: 25]
private let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

@Suite struct `What strangers do` {
  @Test func `leaves Apple and the operator their connections`() async throws {
    let events = Events()
    let limits = small {
      ($0.connections, $0.reservedPercent) = (40, quarters)
      // Those that are held say nothing.
      ($0.firstByte, $0.firstByteWhenCrowded) = (.seconds(600), .seconds(600))
    }
    try await withServer(limits: limits, events: events, classify: classify) { server in
      var held: [RawClient] = []
      for n in 0..<30 { held.append(try RawClient(port: server.port, from: UInt32(10 + n))) }
      try await eventually("the others are refused") { server.counters.refused == [.tooManyConnections: 10] }
      #expect(server.used(.connections, by: .anonymous) == 20)
      for last: UInt32 in [1, 3] {
        for _ in 0..<10 {
          let client = try RawClient(port: server.port, from: last)
          await client.send(get)
          #expect(await client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
          held.append(client)
        }
      }
      try await eventually("it is reported") { events.nearlyFull(.connections).contains(.anonymous) }
      for client in held { await client.close() }
      try await eventually("all are given back") {
        CallerClass.allCases.allSatisfy { server.used(.connections, by: $0) == 0 }
      }
    }
  }

  @Test func `leaves Apple its memory for bodies`() async throws {
    let limits = small { ($0.bodiesInFlight, $0.reservedPercent) = (400_000, quarters) }
    try await withServer(limits: limits, classify: classify) { server in
      var held: [RawClient] = []
      for last: UInt32 in [2, 4] {
        let client = try RawClient(port: server.port, from: last)
        await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + String.x(99_999))
        held.append(client)
      }
      try await eventually("they have all they may") { server.used(.bodies, by: .anonymous) == 200_000 }
      let third = try RawClient(port: server.port, from: 5)
      await third.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + String.x(1_000))
      #expect(await third.receiveAll().hasPrefix("HTTP/1.1 503"))
      let apple = try RawClient(port: server.port, from: 1)
      await apple.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + String.x(100_000))
      #expect(await apple.receive(until: "xxx").hasPrefix("HTTP/1.1 200"))
      for client in held { await client.vanish() }
    }
  }

  /// What is not read stays in memory: as much as strangers may have for bodies, and no more.
  @Test func `leaves Apple its memory while they do not read their answers`() async throws {
    let handler = Handler { _ in HTTPResponse(status: 200, body: [UInt8](repeating: 0x78, count: 8 << 20)) }
    try await withServer(handler, limits: small { $0.reservedPercent = quarters }, classify: classify) { server in
      var held: [RawClient] = []
      for last: UInt32 in [2, 4, 5] {
        let client = try RawClient(port: server.port, from: last)
        await client.send(get)
        held.append(client)
      }
      try await eventually("their answers are counted") { server.used(.bodies, by: .anonymous) == 3 * 8 << 20 }
      let fourth = try RawClient(port: server.port, from: 6)
      await fourth.send(get)
      try await eventually("the fourth's too") { server.used(.bodies, by: .anonymous) == 4 * 8 << 20 }
      let fifth = try RawClient(port: server.port, from: 7)
      await fifth.send(get)
      #expect(await fifth.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 503"))
      #expect(server.counters.refused == [.answerBudget: 1])
      let apple = try RawClient(port: server.port, from: 1)
      await apple.send(get)
      #expect(await apple.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
      for client in held + [fourth, fifth, apple] { await client.vanish() }
      try await eventually("all is given back") { server.counters.bodiesInFlight == 0 }
    }
  }

  /// A proxy's connections are the operator's; what strangers send through it, and is not taken, is the strangers'.
  @Test(arguments: ["/refused", "/undecided", "/taken"])
  func `through a proxy leaves the proxy its connections`(path: String) async throws {
    var handler = Handler.echo
    let gate = Gate()
    handler.sender = { $0.headers["X-Stranger"] == nil ? nil : .anonymous }
    handler.admission = { head in
      switch head.path {
      case "/refused": .refuse(HTTPResponse(status: 404))
      case "/undecided":
        .decide {
          await gate.pass(); return .refuse(HTTPResponse(status: 401))
        }
      case _: .admit(as: head.headers["X-Stranger"] == nil ? .apple : .anonymous)
      }
    }
    let limits = small {
      ($0.connections, $0.reservedPercent) = (40, quarters)
      ($0.firstByte, $0.firstByteWhenCrowded) = (.seconds(600), .seconds(600))
    }
    try await withServer(handler, limits: limits, classify: { _ in .known }) { server in
      var held: [RawClient] = []
      let unfinished = "POST \(path) HTTP/1.1\r\nHost: x\r\nX-Stranger: 1\r\nContent-Length: 1000\r\n\r\n"
      for _ in 0..<60 {
        let client = try RawClient(port: server.port)
        await client.send(unfinished)
        held.append(client)
        let sent = held.count
        // No more than the proxy may have are on their way to being judged.
        try await eventually("it is judged") {
          let refused = server.counters.refused.values.reduce(0, +)
          let isJudged = path == "/refused" ? refused == sent : refused + min(sent, 20) == sent
          return isJudged && server.used(.connections, by: .known) == 0
        }
      }
      #expect(server.used(.connections, by: .anonymous) == 20)
      for _ in 0..<10 {
        let apple = try RawClient(port: server.port)
        await apple.send("GET /taken HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(await apple.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        await apple.close()
      }
      gate.open()
      for client in held { await client.vanish() }
    }
  }

  @Test func `ends early when it is nothing`() async throws {
    try await withServer(limits: small { $0.firstByte = .milliseconds(200) }) { server in
      let silent = try RawClient(port: server.port)
      #expect(await silent.receiveAll().isEmpty)
      #expect(server.counters.refused == [.silent: 1])
    }
  }

  @Test func `ends earlier when connections run out`() async throws {
    let limits = small {
      ($0.connections, $0.reservedPercent, $0.firstByteWhenCrowded) = (40, quarters, .milliseconds(200))
    }
    try await withServer(limits: limits, classify: classify) { server in
      let apple = try RawClient(port: server.port, from: 1)
      var silent: [RawClient] = []
      for n in 0..<20 { silent.append(try RawClient(port: server.port, from: UInt32(10 + n))) }
      try await eventually("some are closed") { (server.counters.refused[.silent] ?? 0) > 0 }
      for last: UInt32 in [2, 4] {
        let stranger = try RawClient(port: server.port, from: last)
        await stranger.send(get)
        #expect(await stranger.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
      }
      await apple.send(get)
      #expect(await apple.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
      for client in silent { await client.close() }
    }
  }

  @Test func `is slowed to a rate for each address`() async throws {
    let limits = small { $0.connectionRate = Rate(burst: 3, perSecond: 1) }
    try await withServer(limits: limits, classify: classify) { server in
      var held: [RawClient] = []
      for _ in 0..<10 { held.append(try RawClient(port: server.port, from: 2)) }
      try await eventually("those beyond it are refused") {
        (server.counters.refused[.tooFastFromAddress] ?? 0) >= 5
      }
      for _ in 0..<10 { held.append(try RawClient(port: server.port, from: 1)) }
      let other = try RawClient(port: server.port, from: 4)
      await other.send(get)
      #expect(await other.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
      #expect(server.used(.connections, by: .apple) == 10)
      for client in held { await client.close() }
    }
  }
}

@Suite struct `A decision about a head` {
  @Test(arguments: [true, false])
  func `may take its time, and no byte of the body is taken before`(admits: Bool) async throws {
    let gate = Gate()
    var handler = Handler.echo
    handler.admission = { _ in
      .decide {
        await gate.pass()
        return admits ? .admit(as: .known) : .refuse(.text(401, "who are you?"), because: "unknownToken")
      }
    }
    try await withServer(handler) { server in
      let client = try RawClient(port: server.port)
      await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n" + String.x(50_000))
      try await eventually("it is asked") { gate.waiting == 1 }
      #expect(server.counters.bodiesInFlight == 0)
      gate.open()
      let answer = await client.receive(until: admits ? "xxx" : "you?")
      #expect(answer.hasPrefix(admits ? "HTTP/1.1 200" : "HTTP/1.1 401"))
      #expect(server.counters.refused == (admits ? [:] : [.notAdmitted: 1]))
    }
  }

  @Test func `is given up when the request's time is over`() async throws {
    let gate = Gate()
    var handler = Handler.echo
    handler.admission = { _ in
      .decide {
        await gate.pass()
        return .admit()
      }
    }
    try await withServer(handler, limits: small { $0.receive = .milliseconds(200) }) { server in
      let client = try RawClient(port: server.port)
      await client.send(get)
      #expect(await client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 503"))
      #expect(server.counters.refused == [.unanswered: 1])
      gate.open()
    }
  }
}
