@Suite struct `The delivery` {
  @Test func `posts the body as it came, with an id that is the same in every repeat`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd(.failed(.status(503)))
    let delivery = bench.delivery(to: back)
    try await bench.store(customers: 0..<1, numbers: 0..<1)
    _ = await delivery.round()
    bench.clock.advance(by: .seconds(2))
    back.answer(.delivered(status: 204))
    _ = await delivery.round()
    #expect(back.requests.count == 2)
    let ids = back.requests.compactMap { $0.headers.first { $0.name == "webhook-id" }?.value }
    #expect(Set(ids).count == 1 && ids.count == 2 && ids[0].hasPrefix("msg_"))
    let request = back.requests[1]
    #expect(request.method == "POST" && request.body == Array("0/0".utf8))
    #expect(request.headers.first { $0.name == "Content-Type" }?.value == "application/json")
    #expect(try await bench.depth() == OutboxDepth())
    let text = String(decoding: bench.metrics.prometheusText(), as: UTF8.self)
    #expect(text.contains("switchyard_deliveries_total{outcome=\"delivered\"} 1"))
    #expect(text.contains("switchyard_deliveries_total{outcome=\"failed\"} 1"))
    await bench.pool.close()
  }

  @Test func `brings everything, in order, after an hour in which the old back end was down`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd(.failed(.noAnswer(.couldNotConnect)))
    let delivery = bench.delivery(to: back)
    try await bench.store(customers: 0..<12, numbers: 0..<2)
    let end = DeliveryBench.start + .hours(1)
    let half = DeliveryBench.start + .minutes(30)
    while bench.clock.clock.now() < half {
      _ = await delivery.round()
      bench.clock.advance(by: .seconds(15))
    }
    // Apple does not stop meanwhile.
    try await bench.store(customers: 0..<12, numbers: 2..<4)
    while bench.clock.clock.now() < end {
      _ = await delivery.round()
      bench.clock.advance(by: .seconds(15))
    }
    // One for each customer until it counted as down, then a probe in a minute at most.
    #expect(back.attempts < 12 + 75)
    #expect(try await bench.depth().waiting == 48)
    back.answer(.delivered(status: 200))
    for _ in 0..<200 where try await bench.depth().waiting > 0 {
      _ = await delivery.round()
      bench.clock.advance(by: .seconds(15))
    }
    let orders = DeliveryBench.orders(back.taken)
    #expect(orders.count == 12 && orders.values.allSatisfy { $0 == [0, 1, 2, 3] })
    #expect(back.taken.count == 48 && back.repeats == 0)
    await bench.pool.close()
  }

  @Test func `gives up after three days, says so, and sends again when told to`() async throws {
    let bench = try await DeliveryBench()
    let (back, log) = (OldBackEnd(.failed(.status(410))), RecordingLogHandler())
    let delivery = bench.delivery(to: back, log: log)
    try await bench.store(customers: 0..<1, numbers: 0..<2)
    for _ in 0..<100 where try await bench.depth().dead < 2 {
      _ = await delivery.round()
      bench.clock.advance(by: .hours(1))
    }
    #expect(try await bench.depth().dead == 2)
    #expect(bench.clock.clock.now() > DeliveryBench.start + .days(3))
    let lines = log.records.map { "\($0)" }
    #expect(lines.contains { $0.contains("outbox replay") })
    #expect(!lines.contains { $0.contains("secret-path") })
    back.answer(.delivered(status: 200))
    let now = bench.clock.clock.now()
    try await bench.pool.transaction { session throws(DatabaseError) in
      var selection = OutboxTable.Selection()
      selection.states = [.dead]
      let sequences = try OutboxTable.rows(selection, limit: 10, in: session).map(\.sequence)
      _ = try OutboxTable.replay(sequences, at: now, in: session)
    }
    for _ in 0..<10 {
      _ = await delivery.round()
      bench.clock.advance(by: .minutes(2))
    }
    #expect(back.taken == ["0/0", "0/1"])
    await bench.pool.close()
  }

  @Test func `lets one customer's refused message hold up nobody else`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd()
    let post: Delivery.Post = { request in
      request.body == Array("0/0".utf8) ? .failed(.status(422)) : await back.post(request)
    }
    let delivery = bench.delivery(over: post)
    try await bench.store(customers: 0..<3, numbers: 0..<3)
    for _ in 0..<6 { _ = await delivery.round() }
    let orders = DeliveryBench.orders(back.taken)
    #expect(orders["0"] == nil && orders["1"] == [0, 1, 2] && orders["2"] == [0, 1, 2])
    #expect(try await bench.depth().waiting == 3)
    await bench.pool.close()
  }

  @Test func `gives up what was purged or does not open, which can be replayed`() async throws {
    let bench = try await DeliveryBench()
    let (back, log) = (OldBackEnd(), RecordingLogHandler())
    let delivery = bench.delivery(to: back, log: log)
    try await bench.store(customers: 0..<3, numbers: 0..<1)
    let whole = try await bench.pool.transaction { session throws(DatabaseError) in
      let messages = try session.query("SELECT message FROM outbox ORDER BY sequence")
      let digest = try messages[2].bytes(0)
      let whole = try session.query("SELECT body FROM bodies WHERE digest = \(digest)")[0].bytes(0)
      _ = try session.execute("DELETE FROM inbox WHERE digest = \(try messages[1].bytes(0))")
      _ = try session.execute("UPDATE bodies SET body = 'x' WHERE digest = \(digest)")
      return (digest, whole)
    }
    _ = await delivery.round()
    #expect(back.taken == ["0/0"])
    var depth = try await bench.depth()
    #expect(depth.waiting == 0 && depth.dead == 2)
    #expect(log.records.contains { "\($0)".contains("under a master key that is lost") })
    // As from a backup.
    let now = bench.clock.clock.now()
    try await bench.pool.transaction { session throws(DatabaseError) in
      _ = try session.execute("UPDATE bodies SET body = \(whole.1) WHERE digest = \(whole.0)")
      var selection = OutboxTable.Selection()
      selection.states = [.dead]
      _ = try OutboxTable.replay(
        OutboxTable.rows(selection, limit: 9, in: session).map(\.sequence), at: now, in: session)
    }
    _ = await delivery.round()
    #expect(back.taken == ["0/0", "2/0"])
    depth = try await bench.depth()
    #expect(depth.waiting == 0 && depth.dead == 1)
    await bench.pool.close()
  }

  @Test func `is shared by two processes: each message once, each customer in order`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd()
    try await bench.store(customers: 0..<10, numbers: 0..<10)
    let (one, two) = (bench.delivery(to: back), bench.delivery(to: back))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await one.run() }
      group.addTask { try await two.run() }
      let isDone = await eventually { back.taken.count == 100 }
      #expect(isDone)
      group.cancelAll()
      try await group.waitForAll()
    }
    #expect(back.attempts == 100)
    #expect(DeliveryBench.orders(back.taken).values.allSatisfy { $0 == Array(0..<10) })
    #expect(try await bench.depth().waiting == 0)
    await bench.pool.close()
  }

  @Test func `sends what it has leased, again and again, when another destination cannot be searched`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd()
    let delivery = bench.delivery(to: back)
    // The second destination's lease fails for what it counts: one attempt more than the column holds.
    let broken = AppScope(app: bench.scope.app, environment: .production)
    try await bench.pool.transaction { session throws(DatabaseError) in
      try DestinationTable.setLegacy("https://broken.example.com/", of: broken, at: DeliveryBench.start, in: session)
      _ = try session.execute(
        """
        INSERT INTO outbox (destination, message, attempts, created_at, due_at, expires_at)
        SELECT MAX(id), REPEAT('x', 32), 4294967295, 1, 1, 1 FROM destinations
        """)
    }
    // More than fit at once: a place that is not given back would be missed.
    for number in 0..<3 {
      try await bench.store(customers: 0..<32, numbers: number..<number + 1)
      _ = await delivery.round()
      #expect(back.taken.count == 32 * (number + 1))
    }
    await bench.pool.close()
  }

  @Test func `keeps sending to everybody else when a few customers' messages are refused with 422`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd()
    let refused = Set((0..<20).map { Array("\($0)/0".utf8) })
    let post: Delivery.Post = { request in
      refused.contains(request.body) ? .failed(.status(422)) : await back.post(request)
    }
    let delivery = bench.delivery(over: post)
    try await bench.store(customers: 0..<20, numbers: 0..<1)
    for _ in 0..<4 {
      _ = await delivery.round()
      bench.clock.advance(by: .seconds(20))
    }
    try await bench.store(customers: 20..<30, numbers: 0..<1)
    _ = await delivery.round()
    #expect(back.taken.count == 10, "no circuit holds them up")
    await bench.pool.close()
  }

  @Test func `does not send what another process may have leased by then`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd()
    var settings = Delivery.Settings()
    settings.lease = .seconds(10)
    try await bench.store(customers: 0..<1, numbers: 0..<1)
    // The rest of the lease is shorter than an attempt may take.
    #expect(await bench.delivery(over: back.post, settings).round() == 1)
    #expect(back.attempts == 0)
    #expect(await bench.delivery(to: back).round() == 1, "given back at once")
    #expect(back.taken == ["0/0"])
    await bench.pool.close()
  }

  @Test func `gives back what it was sending when it is stopped`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd(.failed(.noAnswer(.cancelled)))
    try await bench.store(customers: 0..<1, numbers: 0..<1)
    _ = await bench.delivery(to: back).round()
    back.answer(.delivered(status: 200))
    #expect(await bench.delivery(to: back).round() == 1, "due at once")
    #expect(back.taken == ["0/0"])
    await bench.pool.close()
  }

  /// What anybody can send must not stand in the way of what Apple signed, whatever the old back end says of it.
  @Test(arguments: [400, 403, 500, 503])
  func `brings what Apple signed at once beside junk that the old back end refuses, and junk once`(status: Int)
    async throws
  {
    let bench = try await DeliveryBench()
    let back = OldBackEnd()
    let attempts = Mutex<[String: Int]>([:])
    let delivery = bench.delivery(
      over: { request in
        let text = String(decoding: request.body, as: UTF8.self)
        attempts.withLock { $0[text, default: 0] += 1 }
        return text.hasPrefix("junk") ? .failed(.status(status)) : await back.post(request)
      })
    _ = try await bench.ledger.append((0..<20).map { bench.junk("junk \($0)") })
    _ = await delivery.round()
    try await bench.store(customers: 0..<3, numbers: 0..<1)
    _ = await delivery.round()
    #expect(back.taken.sorted() == ["0/0", "1/0", "2/0"])
    for _ in 0..<10 {
      bench.clock.advance(by: .minutes(10))
      _ = await delivery.round()
    }
    let junk = attempts.withLock { $0.filter { $0.key.hasPrefix("junk") } }
    #expect(junk.count == 20 && junk.values.allSatisfy { $0 == 1 }, "\(junk)")
    #expect(try await bench.depth().waiting == 0)
    await bench.pool.close()
  }

  @Test func `loses nothing in an hour in which everything is refused`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd(.failed(.status(401)))
    let delivery = bench.delivery(to: back)
    try await bench.store(customers: 0..<5, numbers: 0..<2)
    for _ in 0..<14 {
      _ = await delivery.round()
      bench.clock.advance(by: .minutes(5))
    }
    #expect(try await bench.depth().waiting == 10)
    back.answer(.delivered(status: 200))
    for _ in 0..<8 {
      _ = await delivery.round()
      bench.clock.advance(by: .minutes(5))
    }
    #expect(back.taken.count == 10 && DeliveryBench.orders(back.taken).values.allSatisfy { $0 == [0, 1] })
    #expect(try await bench.depth() == OutboxDepth())
    await bench.pool.close()
  }

  @Test func `gives up what is refused alone, after an hour, and goes on with the customer's next`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd()
    let delivery = bench.delivery(
      over: { request in
        request.body == Array("0/0".utf8) ? .failed(.status(400)) : await back.post(request)
      })
    try await bench.store(customers: 0..<1, numbers: 0..<2)
    var minutes = 0
    while minutes < 600, try await bench.depth().waiting > 0 {
      // Other customers' messages are taken meanwhile.
      try await bench.store(customers: (100 + minutes)..<(101 + minutes), numbers: 0..<1)
      _ = await delivery.round()
      _ = await delivery.round()
      bench.clock.advance(by: .minutes(5))
      minutes += 5
    }
    #expect(minutes > 60 && minutes < 200, "\(minutes) minutes")
    #expect(back.taken.contains("0/1"))
    #expect(try await bench.depth().dead == 1)
    await bench.pool.close()
  }
}
