@Suite struct `A pool` {
  private static func withTable(
    _ change: (inout Pool.Settings) -> Void = { _ in }, _ body: (Pool) async throws -> Void
  ) async throws {
    var settings = Pool.Settings()
    settings.waitLimit = .minutes(2)
    change(&settings)
    let pool = Pool(try await PrivateMariaDB.shared.database(), settings: settings)
    try await pool.withConnection { connection in
      try await connection.read { session throws(DatabaseError) in
        try session.run("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0)")
        _ = try session.execute("INSERT INTO t (id) VALUES (1), (2)")
      }
    }
    try await body(pool)
    await pool.close()
    #expect(pool.figures.inUse == 0)
    #expect(pool.figures.idle == 0)
  }

  private static func sum(_ pool: Pool) async throws -> Int {
    try await pool.read { session throws(DatabaseError) in try session.query("SELECT SUM(n) AS s FROM t")[0].int("s") }
  }

  private static func expect(_ code: DatabaseError.Code, borrowingFrom pool: Pool) async {
    await #expect(throws: DatabaseError(code, "")) { try await pool.withConnection { _ in } }
  }

  @Test func `reads a snapshot as it was at the beginning, and changes nothing in it`() async throws {
    try await Self.withTable { pool in
      let hasRead = Atomic(false)
      let isWritten = Atomic(false)
      async let seen = pool.snapshot { session throws(DatabaseError) in
        let before = try session.query("SELECT SUM(n) AS s FROM t")[0].int("s")
        hasRead.store(true, ordering: .releasing)
        while !isWritten.load(ordering: .acquiring) { usleep(1_000) }
        return [before, try session.query("SELECT SUM(n) AS s FROM t")[0].int("s")]
      }
      #expect(await eventually { hasRead.load(ordering: .acquiring) })
      _ = try await pool.transaction { session throws(DatabaseError) in
        try session.execute("UPDATE t SET n = n + 1 WHERE id = 1")
      }
      isWritten.store(true, ordering: .releasing)
      #expect(try await seen == [0, 0])
      await #expect(throws: DatabaseError.self) {
        _ = try await pool.snapshot { session throws(DatabaseError) in try session.execute("UPDATE t SET n = 9") }
      }
      // The next transaction on the connection is as ever.
      try await pool.transaction { session throws(DatabaseError) in
        _ = try session.execute("UPDATE t SET n = n + 1 WHERE id = 1")
      }
      #expect(try await Self.sum(pool) == 2)
    }
  }

  @Test func `never has more connections than allowed`() async throws {
    try await Self.withTable({ $0.size = 3 }) { pool in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<60 {
          group.addTask {
            try await pool.transaction { session throws(DatabaseError) in
              _ = try session.execute("UPDATE t SET n = n + 1 WHERE id = 1")
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await Self.sum(pool) == 60)
      #expect(pool.figures.created <= 3)
      #expect(pool.figures.discarded == 0)
    }
  }

  @Test func `serves those who wait in the order they came`() async throws {
    try await Self.withTable({ $0.size = 1 }) { pool in
      let order = Shared<[Int]>([])
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await pool.withConnection { _ in
          for number in 0..<10 {
            group.addTask {
              try await pool.withConnection { _ -> Void in
                order.change { $0.append(number) }
              }
            }
            #expect(await eventually { pool.figures.waiting == number + 1 })
          }
        }
        try await group.waitForAll()
      }
      #expect(order.value == Array(0..<10))
    }
  }

  @Test func `serves the urgent first`() async throws {
    try await Self.withTable({ $0.size = 1 }) { pool in
      let order = Shared<[Int]>([])
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await pool.withConnection { _ in
          for number in 0..<6 {
            group.addTask { () async throws -> Void in
              try await pool.transaction(isUrgent: number >= 4) { _ throws(DatabaseError) -> Void in
                order.change { $0.append(number) }
              }
            }
            #expect(await eventually { pool.figures.waiting == number + 1 })
          }
        }
        try await group.waitForAll()
      }
      #expect(order.value == [4, 5, 0, 1, 2, 3])
    }
  }

  @Test func `waits for a lock as long as each transaction says, and gives up if told to`() async throws {
    try await Self.withTable({ $0.size = 2 }) { pool in
      @Sendable func limit(_ session: Session) throws(DatabaseError) -> Int {
        try session.query("SELECT @@innodb_lock_wait_timeout AS w")[0].int("w")
      }
      try await pool.withConnection { blocker in
        try await blocker.read { session throws(DatabaseError) in
          try session.run("START TRANSACTION")
          _ = try session.execute("UPDATE t SET n = 5 WHERE id = 1")
        }
        let attempts = Shared(0)
        await #expect(throws: DatabaseError(.lockWaitTimeout, "")) {
          try await pool.transaction(lockWait: .seconds(1), givingUpOn: [.lockWaitTimeout]) {
            session throws(DatabaseError) in
            attempts.change { $0 += 1 }
            let seconds = try limit(session)
            #expect(seconds == 1)
            _ = try session.execute("UPDATE t SET n = 6 WHERE id = 1")
          }
        }
        #expect(attempts.value == 1)
        // The same connection.
        let usual = try await pool.transaction { session throws(DatabaseError) in try limit(session) }
        #expect(usual == 5)
        try await blocker.read { session throws(DatabaseError) in try session.run("ROLLBACK") }
      }
    }
  }

  @Test func `lets nobody wait for ever`() async throws {
    try await Self.withTable({
      $0.size = 1
      $0.waitLimit = .milliseconds(30)
    }) { pool in
      try await pool.withConnection { _ in
        await Self.expect(.timedOut, borrowingFrom: pool)
      }
      #expect(pool.figures.timedOut == 1)
      #expect(pool.figures.waiting == 0)
      try await pool.withConnection { _ in }
    }
  }

  @Test func `bounds the number of those who wait`() async throws {
    try await Self.withTable({
      $0.size = 1
      $0.waiterLimit = 0
    }) { pool in
      try await pool.withConnection { _ in
        await Self.expect(.timedOut, borrowingFrom: pool)
      }
    }
  }

  @Test func `lets a cancelled caller go`() async throws {
    try await Self.withTable({ $0.size = 1 }) { pool in
      try await pool.withConnection { _ in
        await withTaskGroup(of: Bool.self) { group in
          group.addTask {
            do {
              try await pool.withConnection { _ in }
              return false
            } catch {
              return error as? DatabaseError == DatabaseError(.timedOut, "")
            }
          }
          #expect(await eventually { pool.figures.waiting == 1 })
          group.cancelAll()
          let wasLetGo = await group.next()
          #expect(wasLetGo == true)
        }
      }
      try await pool.withConnection { _ in }
    }
  }

  @Test func `retries a deadlock until both commit`() async throws {
    try await Self.withTable { pool in
      let step = Step()
      let attempts = Shared<Int>(0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (first, second) in [(1, 2), (2, 1)] {
          group.addTask {
            try await pool.transaction { session throws(DatabaseError) in
              attempts.change { $0 += 1 }
              _ = try session.execute("UPDATE t SET n = n + 1 WHERE id = \(first)")
              step.arriveAndWait()
              _ = try session.execute("UPDATE t SET n = n + 1 WHERE id = \(second)")
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await Self.sum(pool) == 4)
      #expect(pool.figures.retries >= 1)
      let count = attempts.value
      #expect(count >= 3)
    }
  }

  @Test func `replaces a killed connection, and the transaction happens once`() async throws {
    try await Self.withTable { pool in
      let killed = Shared<Bool>(false)
      try await pool.transaction { session throws(DatabaseError) in
        _ = try session.execute("UPDATE t SET n = n + 1 WHERE id = 1")
        if !killed.change({ $0 = true }) { try session.run("KILL CONNECTION_ID()") }
        _ = try session.execute("UPDATE t SET n = n + 1 WHERE id = 2")
      }
      #expect(try await Self.sum(pool) == 2)
      #expect(pool.figures.discarded == 1)
      #expect(pool.figures.created == 2)
    }
  }

  @Test func `finds a live connection at the first attempt after all were killed`() async throws {
    let configuration = try await PrivateMariaDB.shared.database()
    var settings = Pool.Settings()
    settings.retry.attempts = 2
    let pool = Pool(configuration, settings: settings)
    let ids = Shared<[UInt64]>([])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await pool.withConnection { connection in
            let id = await connection.id
            ids.change { $0.append(id) }
            #expect(await eventually { ids.value.count == 8 })
          }
        }
      }
      try await group.waitForAll()
    }
    let killer = try await Connection.open(configuration)
    try await killer.read { session throws(DatabaseError) in
      for id in ids.value { try session.run("KILL \(digits: Int64(id))") }
    }
    let rows = try await pool.read { session throws(DatabaseError) in try session.query("SELECT 1") }
    #expect(rows.count == 1)
    #expect(pool.figures.retries == 1)
    #expect(pool.figures.discarded == 8)
    await killer.close()
    await pool.close()
  }

  @Test(arguments: [true, false]) func `repeats an unknown outcome only when allowed`(replayable: Bool) async throws {
    try await Self.withTable { pool in
      let killed = Shared<Bool>(false)
      do throws(DatabaseError) {
        try await pool.transaction(replayable: replayable) { session throws(DatabaseError) in
          _ = try session.execute("UPDATE t SET n = 7 WHERE id = 1")
          if !killed.change({ $0 = true }) { try kill(session) }
        }
        #expect(replayable)
      } catch {
        #expect(!replayable)
        #expect(error == DatabaseError(.commitOutcomeUnknown, ""))
      }
      let sum = try await Self.sum(pool)
      #expect(sum == (replayable ? 7 : 0))
    }
  }

  @Test func `pings what was idle for long, and discards what was idle for longer`() async throws {
    let now = Shared<Int64>(0)
    var pacing = TimeSource.system
    pacing.elapsed = { .milliseconds(now.value) }
    let pool = Pool(try await PrivateMariaDB.shared.database(), settings: Pool.Settings(), pacing: pacing)
    let first = try await pool.withConnection { await $0.id }
    now.change { $0 += 60_000 }
    #expect(try await pool.withConnection { await $0.id } == first)
    let killer = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await killer.read { session throws(DatabaseError) in try session.run("KILL \(digits: Int64(first))") }
    now.change { $0 += 60_000 }
    let second = try await pool.withConnection { await $0.id }
    #expect(second != first)
    now.change { $0 += 600_000 }
    #expect(try await pool.withConnection { await $0.id } != second)
    #expect(pool.figures.discarded == 2)
    await killer.close()
    await pool.close()
  }

  @Test func `draws each pause from zero to a doubling ceiling, and stops after so many`() async throws {
    var configuration = try await PrivateMariaDB.shared.database()
    configuration.address = .socket(path: "/tmp/switchyard-nothing-here.sock")
    let ceilings = Shared<[Int64]>([])
    let pauses = Shared<[Int64]>([])
    let pacing = TimeSource(
      elapsed: { .milliseconds(0) }, sleep: { pause in pauses.change { $0.append(pause.milliseconds) } },
      random: { ceiling in
        ceilings.change { $0.append(ceiling) }
        return ceiling / 2
      })
    var settings = Pool.Settings()
    settings.retry.attempts = 5
    settings.retry.backoff.first = .milliseconds(10)
    settings.retry.backoff.longest = .milliseconds(50)
    let pool = Pool(configuration, settings: settings, pacing: pacing)
    await #expect(throws: DatabaseError(.connectionRefused, "")) {
      try await pool.transaction { session throws(DatabaseError) in try session.ping() }
    }
    #expect(ceilings.value == [10, 20, 40, 50])
    #expect(pauses.value == [5, 10, 20, 25])
    #expect(pool.figures.retries == 4)
    #expect(pool.figures.inUse == 0)
  }

  @Test func `begins no attempt after its time is up`() async throws {
    var configuration = try await PrivateMariaDB.shared.database()
    configuration.address = .socket(path: "/tmp/switchyard-nothing-here.sock")
    let now = Shared<Int64>(0)
    let pacing = TimeSource(
      elapsed: { .milliseconds(now.value) }, sleep: { pause in now.change { $0 += pause.milliseconds } },
      random: { $0 })
    var settings = Pool.Settings()
    settings.retry.attempts = 1_000
    settings.retry.within = .seconds(3)
    let pool = Pool(configuration, settings: settings, pacing: pacing)
    await #expect(throws: DatabaseError(.connectionRefused, "")) {
      try await pool.read { session throws(DatabaseError) in try session.ping() }
    }
    #expect(now.value < 4_500)
  }

  @Test func `runs several units in one visit and retries those that did not happen`() async throws {
    try await Self.withTable { pool in
      let failed = Shared<Bool>(false)
      let results = try await pool.transactions([1, 2, 3]) { session, id throws(DatabaseError) in
        guard id < 3 else { throw DatabaseError.abandoned("poison") }
        _ = try session.execute("UPDATE t SET n = 1 WHERE id = \(id)")
        if id == 2, !failed.change({ $0 = true }) { throw DatabaseError(.lockWaitTimeout, "for the test") }
        return id
      }
      #expect(results == [.success(1), .success(2), .failure(.abandoned(""))])
      #expect(try await Self.sum(pool) == 2)
    }
  }

  @Test func `closes after what is lent came back`() async throws {
    let pool = Pool(try await PrivateMariaDB.shared.database(), settings: Pool.Settings())
    let isClosed = Shared<Bool>(false)
    try await withThrowingTaskGroup(of: Void.self) { group in
      try await pool.withConnection { connection in
        group.addTask {
          await pool.close()
          isClosed.change { $0 = true }
        }
        #expect(
          await eventually {
            do {
              try await pool.withConnection { _ in }
              return false
            } catch {
              return error as? DatabaseError == DatabaseError(.closed, "")
            }
          })
        try await connection.ping()
        let isEarly = isClosed.value
        #expect(!isEarly)
      }
      try await group.waitForAll()
    }
    let isClosedAtLast = isClosed.value
    #expect(isClosedAtLast)
    #expect(pool.figures.inUse == 0)
  }
}
