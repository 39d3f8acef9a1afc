@Suite struct `A connection` {
  private static func withTable(_ body: (Connection, DatabaseConfiguration) async throws -> Void) async throws {
    let configuration = try await PrivateMariaDB.shared.database()
    let connection = try await Connection.open(configuration)
    try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0)")
    }
    try await body(connection, configuration)
    await connection.close()
  }

  private static func count(_ connection: Connection) async throws -> Int {
    try await connection.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) AS c FROM t")[0].int("c")
    }
  }

  @Test func `commits what a body did and rolls back what it gave up`() async throws {
    try await Self.withTable { connection, _ in
      let value = try await connection.transaction { session throws(DatabaseError) in
        _ = try session.execute("INSERT INTO t (id) VALUES (1)")
        return "done"
      }
      #expect(value == "done")
      await #expect(throws: DatabaseError(.abandoned, "")) {
        try await connection.transaction { session throws(DatabaseError) in
          _ = try session.execute("INSERT INTO t (id) VALUES (2)")
          throw DatabaseError.abandoned("changed my mind")
        }
      }
      await #expect(throws: DatabaseError(.duplicateKey, "")) {
        try await connection.transaction { session throws(DatabaseError) in
          _ = try session.execute("INSERT INTO t (id) VALUES (3)")
          _ = try session.execute("INSERT INTO t (id) VALUES (1)")
        }
      }
      #expect(try await Self.count(connection) == 1)
      #expect(!connection.isPoisoned)
    }
  }

  @Test func `runs several units in one visit, each for itself`() async throws {
    try await Self.withTable { connection, _ in
      let results = await connection.transactions([1, 2, 1, 3]) { session, id throws(DatabaseError) in
        _ = try session.execute("INSERT INTO t (id) VALUES (\(id))")
        return id
      }
      let expected: [Result<Int, DatabaseError>] = [
        .success(1), .success(2), .failure(DatabaseError(.duplicateKey, "")), .success(3),
      ]
      #expect(results == expected)
      let count = try await Self.count(connection)
      #expect(count == 3)
    }
  }

  @Test(arguments: ["COMMIT", "CREATE TABLE u (n INT)"] as [SQL])
  func `notices a body that ended its transaction itself`(statement: SQL) async throws {
    try await Self.withTable { connection, _ in
      await #expect(throws: DatabaseError(.misuse, "")) {
        try await connection.transaction { session throws(DatabaseError) in
          _ = try session.execute("INSERT INTO t (id) VALUES (1)")
          _ = try session.execute(statement)
        }
      }
      try await connection.transaction { session throws(DatabaseError) in
        _ = try session.query("SELECT 1")
        try session.query("SELECT 1") { _ throws(DatabaseError) in }
      }
      try await connection.transaction { _ throws(DatabaseError) in }
      #expect(!connection.isPoisoned)
    }
  }

  @Test func `survives an ordinary error of the server`() async throws {
    try await Self.withTable { connection, _ in
      await #expect(throws: DatabaseError(.other(1305), "")) {
        try await connection.transaction { session throws(DatabaseError) in
          try session.run("ROLLBACK TO SAVEPOINT absent")
        }
      }
      #expect(!connection.isPoisoned)
    }
  }

  @Test func `that was killed is poisoned, and says so`() async throws {
    try await Self.withTable { connection, configuration in
      let other = try await Connection.open(configuration)
      let id = await connection.id
      try await other.read { session throws(DatabaseError) in try session.run("KILL \(digits: Int64(id))") }
      await #expect(throws: DatabaseError(.connectionLost, "")) { try await connection.ping() }
      #expect(connection.isPoisoned)
      await #expect(throws: DatabaseError(.connectionLost, "")) { try await Self.count(connection) }
      await other.close()
    }
  }

  @Test func `killed before COMMIT does not know the outcome`() async throws {
    try await Self.withTable { connection, _ in
      await #expect(throws: DatabaseError(.commitOutcomeUnknown, "")) {
        try await connection.transaction { session throws(DatabaseError) in
          _ = try session.execute("INSERT INTO t (id) VALUES (1)")
          try kill(session)
        }
      }
      #expect(connection.isPoisoned)
    }
  }

  @Test func `does not go on after the server has ended the transaction`() async throws {
    try await Self.withTable { connection, configuration in
      let other = try await Connection.open(configuration)
      try await connection.read { session throws(DatabaseError) in
        _ = try session.execute("INSERT INTO t (id) VALUES (1), (2)")
      }
      // Two transactions lock two rows in opposite order; the one that is chosen swallows its error and goes on.
      let step = Step()
      let outcomes = await withTaskGroup(of: Result<Void, DatabaseError>.self) { group in
        for (connection, first, second) in [(connection, 1, 2), (other, 2, 1)] {
          group.addTask {
            do throws(DatabaseError) {
              try await connection.transaction { session throws(DatabaseError) in
                _ = try session.execute("UPDATE t SET n = n + 1 WHERE id = \(first)")
                step.arriveAndWait()
                do throws(DatabaseError) {
                  _ = try session.execute("UPDATE t SET n = n + 1 WHERE id = \(second)")
                } catch {}
                _ = try session.execute("INSERT INTO t (id) VALUES (\(10 + first))")
              }
              return .success(())
            } catch {
              return .failure(error)
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      let failures = outcomes.compactMap { outcome -> DatabaseError? in
        switch outcome {
        case .success: nil
        case .failure(let error): error
        }
      }
      #expect(failures == [DatabaseError(.deadlock, "")])
      #expect(try await Self.count(connection) == 3)
      #expect(!connection.isPoisoned && !other.isPoisoned)
      await other.close()
    }
  }

  @Test func `gives up waiting for a lock, with the whole transaction`() async throws {
    try await Self.withTable { connection, configuration in
      var impatient = configuration
      impatient.lockWaitTimeout = .seconds(1)
      let other = try await Connection.open(impatient)
      try await connection.read { session throws(DatabaseError) in
        _ = try session.execute("INSERT INTO t (id) VALUES (1)")
        try session.run("START TRANSACTION")
        _ = try session.execute("UPDATE t SET n = 5 WHERE id = 1")
      }
      await #expect(throws: DatabaseError(.lockWaitTimeout, "")) {
        try await other.transaction { session throws(DatabaseError) in
          _ = try session.execute("UPDATE t SET n = 6 WHERE id = 1")
        }
      }
      try await connection.read { session throws(DatabaseError) in try session.run("COMMIT") }
      await other.close()
    }
  }

  @Test func `notices a server that does not answer`() async throws {
    var configuration = try await PrivateMariaDB.shared.database()
    configuration.readTimeout = .seconds(1)
    let connection = try await Connection.open(configuration)
    await #expect(throws: DatabaseError(.connectionLost, "")) {
      try await connection.read { session throws(DatabaseError) in try session.query("SELECT SLEEP(4)") }
    }
    #expect(connection.isPoisoned)
  }

  @Test func `says why there is none`() async throws {
    let good = try await PrivateMariaDB.shared.database()
    var nowhere = good
    nowhere.address = .socket(path: "/tmp/switchyard-nothing-here.sock")
    var closedPort = good
    closedPort.address = .host("127.0.0.1", port: 1)
    var stranger = good
    stranger.user = "stranger"
    stranger.password = "hunter2"
    var unencrypted = good
    unencrypted.tls = .required
    let cases: [(DatabaseConfiguration, DatabaseError.Code)] = [
      (nowhere, .connectionRefused), (closedPort, .connectionRefused), (stranger, .accessDenied),
      (good.database("absent"), .unknownDatabase), (unencrypted, .tlsFailed),
    ]
    for (configuration, code) in cases {
      do {
        _ = try await Connection.open(configuration)
        Issue.record("opened \(configuration)")
      } catch {
        #expect(error.code == code, "\(error)")
        #expect(!error.description.contains("hunter2"))
      }
    }
    #expect(!"\(stranger) \(String(reflecting: stranger))".contains("hunter2"))
  }
}
