/// The lines of a running delivery: who wakes them, what they write, and what keeps one from another.
@Suite struct `A running delivery` {
  /// Runs it beside `body`.
  private func running(_ delivery: Delivery, _ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await delivery.run() }
      try await body()
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  @Test func `waits for no timer while there is work: a commit wakes it, and a delivery the next one`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd()
    var pacing = TimeSource.system
    // Nothing that waits for time ever goes on, but for the end and the moment in which attempts gather.
    pacing.sleep = { pause in
      if pause < .milliseconds(100) { return }
      await untilCancelled()
      throw CancellationError()
    }
    let delivery = bench.delivery(over: back.post, pacing: pacing)
    let commit = GroupCommit(bench.ledger) { delivery.wake($0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await commit.run() }
      try await running(delivery) {
        for number in 0..<3 {
          _ = try await commit.append(bench.entry(customer: 0, number: number))
          _ = try await commit.append(bench.entry(customer: 1, number: number))
        }
        let isDone = await eventually { back.taken.count == 6 }
        #expect(isDone, "\(back.taken)")
      }
      group.cancelAll()
    }
    #expect(DeliveryBench.orders(back.taken) == ["0": [0, 1, 2], "1": [0, 1, 2]])
    #expect(try await bench.depth().waiting == 0)
    await bench.pool.close()
  }

  @Test func `hears of what another process took in by looking`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd()
    try await running(bench.delivery(to: back)) {
      try await bench.store(customers: 0..<40, numbers: 0..<3)
      let isDone = await eventually { back.taken.count == 120 }
      #expect(isDone, "\(back.taken.count)")
    }
    #expect(DeliveryBench.orders(back.taken).values.allSatisfy { $0 == [0, 1, 2] } && back.repeats == 0)
    await bench.pool.close()
  }

  @Test func `is not held up by a destination that never answers`() async throws {
    let bench = try await DeliveryBench()
    let back = OldBackEnd()
    let hanging = AppScope(app: bench.scope.app, environment: .production)
    try await bench.pool.transaction { session throws(DatabaseError) in
      try DestinationTable.setLegacy("https://hanging.example.com/", of: hanging, at: DeliveryBench.start, in: session)
    }
    let post: Delivery.Post = { request in
      guard request.url.contains("hanging") else { return await back.post(request) }
      await untilCancelled()
      return .failed(.noAnswer(.cancelled))
    }
    _ = try await bench.ledger.append((0..<200).map { bench.entry(customer: $0, number: 9, in: hanging) })
    try await running(bench.delivery(over: post)) {
      try await bench.store(customers: 0..<200, numbers: 0..<3)
      let isDone = await eventually { back.taken.count == 600 }
      #expect(isDone, "\(back.taken.count)")
    }
    // What never was answered is given back.
    let leased = try await bench.pool.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) FROM outbox WHERE owner IS NOT NULL OR attempts > 0 AND state = 0").first?.int(
        0)
    }
    #expect(leased == 0)
    await bench.pool.close()
  }

  /// Makes the database refuse to note that a message was delivered, with this error.
  private func refuse(_ number: Int64, sequence: Int64?, _ bench: DeliveryBench) async throws {
    try await bench.pool.read { session throws(DatabaseError) in
      try session.run(
        """
        CREATE TRIGGER refused BEFORE UPDATE ON outbox FOR EACH ROW BEGIN
          IF NEW.state = 1 AND (OLD.sequence = \(digits: sequence ?? -1) OR \(digits: sequence ?? -1) < 0) THEN
            SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = \(digits: number);
          END IF;
        END
        """)
    }
  }

  @Test func `notes all deliveries but the one that cannot be noted, which is made again`() async throws {
    let bench = try await DeliveryBench()
    let (back, log) = (OldBackEnd(), RecordingLogHandler())
    let delivery = bench.delivery(to: back, log: log)
    try await bench.store(customers: 0..<5, numbers: 0..<1)
    try await refuse(1644, sequence: 3, bench)
    _ = await delivery.round()
    #expect(back.taken.count == 5)
    #expect(try await bench.depth().waiting == 1)
    #expect(log.records.contains { "\($0)".contains("could not be noted") })
    try await bench.pool.read { session throws(DatabaseError) in try session.run("DROP TRIGGER refused") }
    #expect(await delivery.round() == 0, "its lease lasts")
    bench.clock.advance(by: .seconds(61))
    #expect(await delivery.round() == 1)
    #expect(back.repeats == 1 && back.taken.count == 5, "under the same webhook-id")
    #expect(try await bench.depth().waiting == 0)
    await bench.pool.close()
  }

  @Test func `keeps what it has to note while the database cannot take it`() async throws {
    let bench = try await DeliveryBench(retries: 1)
    let back = OldBackEnd()
    let delivery = bench.delivery(to: back)
    try await bench.store(customers: 0..<5, numbers: 0..<1)
    try await refuse(1205, sequence: nil, bench)
    _ = await delivery.round()
    #expect(back.taken.count == 5)
    #expect(try await bench.depth().waiting == 5)
    try await bench.pool.read { session throws(DatabaseError) in try session.run("DROP TRIGGER refused") }
    bench.clock.advance(by: .seconds(1))
    _ = await delivery.round()
    #expect(try await bench.depth().waiting == 0)
    #expect(back.repeats == 0, "nothing is sent again")
    await bench.pool.close()
  }

  @Test func `notes what it kept as soon as the database takes it again, and goes on`() async throws {
    let bench = try await DeliveryBench(retries: 1)
    let (back, log) = (OldBackEnd(), RecordingLogHandler())
    let delivery = bench.delivery(to: back, log: log)
    try await bench.store(customers: 0..<3, numbers: 0..<2)
    try await refuse(1205, sequence: nil, bench)
    try await running(delivery) {
      let isRefused = await eventually {
        back.taken.count == 3 && log.records.contains { "\($0)".contains("could not be read") }
      }
      #expect(isRefused)
      try await bench.pool.read { session throws(DatabaseError) in try session.run("DROP TRIGGER refused") }
      // Much less than a lease.
      bench.clock.advance(by: .seconds(1))
      let isDone = await eventually { back.taken.count == 6 }
      #expect(isDone, "\(back.taken)")
    }
    #expect(try await bench.depth().waiting == 0)
    #expect(back.repeats == 0, "nothing is sent again")
    await bench.pool.close()
  }

  @Test func `finds with its sweep what an older binary left blocked, and says so`() async throws {
    let bench = try await DeliveryBench()
    let (back, log) = (OldBackEnd(), RecordingLogHandler())
    let delivery = bench.delivery(to: back, log: log)
    try await bench.store(customers: 0..<3, numbers: 0..<2)
    try await bench.pool.transaction { session throws(DatabaseError) in
      _ = try session.execute("UPDATE outbox SET readiness = 2")
      _ = try session.execute("UPDATE outbox SET state = 1, settled_at = 1 ORDER BY sequence LIMIT 3")
    }
    #expect(await delivery.round() == 0)
    #expect(await delivery.sweep() == 3)
    #expect(await delivery.sweep() == 0)
    #expect(await delivery.round() == 3)
    // Three customers are sent to side by side.
    #expect(back.taken.sorted() == ["0/1", "1/1", "2/1"])
    let text = String(decoding: bench.metrics.prometheusText(), as: UTF8.self)
    #expect(text.contains("switchyard_outbox_unblocked_total 3"))
    #expect(log.records.contains { "\($0)".contains("blocked without a reason") })
    await bench.pool.close()
  }
}
