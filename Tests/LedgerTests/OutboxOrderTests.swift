@testable import Ledger

/// Everything that touches the order of delivery, beside everything else that does.
@Suite struct `The order of the outbox` {
  private func with(_ body: (OutboxFixture) async throws -> Void) async throws {
    let fixture = try await OutboxFixture()
    do { try await body(fixture) } catch {
      await fixture.pool.close()
      throw error
    }
    await fixture.pool.close()
  }

  /// A transaction that stays open until it is told to commit.
  private struct Open {
    let connection: Connection

    init(_ fixture: OutboxFixture, _ body: @Sendable (Session) throws(DatabaseError) -> Void) async throws {
      connection = try await Connection.open(fixture.base.configuration)
      try await connection.read { session throws(DatabaseError) in
        try session.run("START TRANSACTION")
        try body(session)
      }
    }

    func commit() async throws {
      try await connection.read { session throws(DatabaseError) in try session.run("COMMIT") }
      await connection.close()
    }
  }

  /// Returns whether a statement of this database comes to wait for another transaction.
  ///
  /// It is told by its time: `innodb_trx` is not renewed while somebody reads it more often than every 100 ms; MySQL tells it in whole seconds.
  private func isWaiting(_ fixture: OutboxFixture) async throws -> Bool {
    let database = fixture.base.configuration.database ?? ""
    return try await eventually {
      try await fixture.pool.read { session throws(DatabaseError) in
        // MySQL's information_schema fails on statements that hold bytes; MariaDB has no other place.
        let place: SQL = session.serverVersion.contains("MariaDB") ? "information_schema" : "performance_schema"
        return try session.query(
          """
          SELECT 1 FROM \(place).processlist
          WHERE db = \(database) AND command IN ('Query', 'Execute') AND id <> CONNECTION_ID() AND time >= 1 LIMIT 1
          """
        ).first != nil
      }
    }
  }

  private static func outgoing(_ text: String, _ original: String, _ fixture: OutboxFixture) -> OutboxTable.Outgoing {
    OutboxTable.Outgoing(
      message: .sha256(Array(text.utf8)),
      addressee: .init(fixture.scope, epoch: nil, at: OutboxFixture.now, proof: .proven), proof: .proven, size: 1,
      members: [.originalTransactionID(original)])
  }

  private func sequences(_ fixture: OutboxFixture) async throws -> [Int64] {
    try await fixture.turn(wanted: [.proven: 100]).leased.map(\.sequence)
  }

  @Test func `lets a message go that is committed while its forerunner is settled`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([fixture.entry("a1", ["1"])])
      let first = try await fixture.lease()
      let open = try await Open(fixture) { session throws(DatabaseError) in
        let roads = try OutboxTable.roads(of: [fixture.scope.app], in: session)
        try OutboxTable.enqueue([Self.outgoing("a2", "1", fixture)], roads, in: session)
      }
      try await fixture.deliver(first)
      #expect(try await sequences(fixture).isEmpty)
      try await open.commit()
      #expect(try await sequences(fixture).count == 1)
    }
  }

  @Test func `lets a message wait that is committed while its forerunner is on its way`() async throws {
    try await with { fixture in
      let open = try await Open(fixture) { session throws(DatabaseError) in
        let roads = try OutboxTable.roads(of: [fixture.scope.app], in: session)
        try OutboxTable.enqueue([Self.outgoing("a1", "1", fixture)], roads, in: session)
      }
      // Begun before the first is committed: either order would do, but never both at once.
      _ = try await fixture.ledger.append([fixture.entry("a2", ["1"])])
      let second = try await fixture.lease()
      #expect(second.map(\.text) == ["a2"])
      try await open.commit()
      #expect(try await sequences(fixture).count == 1, "the older one waits for nobody")
    }
  }

  @Test func `gives the next message its turn although customers join while the one before is settled`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([
        fixture.entry("b1", ["2"]), fixture.entry("b2", ["2"]), fixture.entry("a1", ["1"]),
      ])
      let first = try await fixture.lease()
      #expect(first.map(\.text) == ["b1", "a1"])
      #expect(try await fixture.texts().isEmpty)
      let (app, join) = (fixture.base.app.id, fixture.entry("join", ["1", "2"], forwarded: false))
      guard case .accepted(let acceptance) = join.content else { return }
      let findings = acceptance.findings
      let open = try await Open(fixture) { session throws(DatabaseError) in
        try CustomerTable.note([(app, findings)], renaming: OutboxKeys.rename, in: session)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        // It waits for the join, which holds the keys.
        group.addTask { try await fixture.deliver(first.filter { $0.text == "b1" }) }
        #expect(try await isWaiting(fixture))
        try await open.commit()
        try await group.waitForAll()
      }
      // a1 is older than nobody who waits, but on its way, and b2 is of the same customer now.
      #expect(try await fixture.count("SELECT COUNT(DISTINCT customer) FROM outbox_keys") == 1)
      #expect(try await fixture.texts() == ["b2"], "its sequence is the smallest")
      try await fixture.deliver(first.filter { $0.text == "a1" })
    }
  }

  @Test func `moves what is enqueued under a label that a join takes away at the same moment`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([
        fixture.entry("a1", ["1"]), fixture.entry("b0", ["2"], forwarded: false),
      ])
      let open = try await Open(fixture) { session throws(DatabaseError) in
        let roads = try OutboxTable.roads(of: [fixture.scope.app], in: session)
        try OutboxTable.enqueue([Self.outgoing("b1", "2", fixture)], roads, in: session)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          _ = try await fixture.ledger.append([fixture.entry("join", ["1", "2"], forwarded: false)])
        }
        #expect(try await isWaiting(fixture), "the join waits for who reads labels")
        try await open.commit()
        try await group.waitForAll()
      }
      #expect(try await fixture.count("SELECT COUNT(DISTINCT customer) FROM outbox_keys") == 1)
      let first = try await fixture.lease()
      #expect(first.map(\.text) == ["a1"])
    }
  }

  @Test func `moves what is enqueued for a purchase without a link that is joined at the same moment`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([fixture.entry("a1", ["1"])])
      let (app, join) = (fixture.base.app.id, fixture.entry("join", ["1", "2"], forwarded: false))
      guard case .accepted(let acceptance) = join.content else { return }
      let findings = acceptance.findings
      // Nothing can be locked of a purchase that no link names: the join has looked for its keys already.
      let open = try await Open(fixture) { session throws(DatabaseError) in
        try CustomerTable.note([(app, findings)], renaming: OutboxKeys.rename, in: session)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await fixture.pool.transaction { session throws(DatabaseError) in
            let roads = try OutboxTable.roads(of: [fixture.scope.app], in: session)
            try OutboxTable.enqueue([Self.outgoing("b1", "2", fixture)], roads, in: session)
          }
        }
        #expect(try await isWaiting(fixture))
        try await open.commit()
        try await group.waitForAll()
      }
      #expect(try await fixture.count("SELECT COUNT(DISTINCT customer) FROM outbox_keys") == 1)
      #expect(try await fixture.texts() == ["a1"])
    }
  }

  @Test func `lets what is on its way when customers join be, and orders the rest`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([
        fixture.entry("a1", ["1"]), fixture.entry("b1", ["2"]), fixture.entry("b2", ["2"]), fixture.entry("a2", ["1"]),
      ])
      let both = try await fixture.lease()
      #expect(both.map(\.text) == ["a1", "b1"])
      _ = try await fixture.ledger.append([fixture.entry("join", ["1", "2"], forwarded: false)])
      // b1 fails: it can be ordered again, and waits for a1.
      try await fixture.settle(both.filter { $0.text == "b1" }, .failed(error: "x", retryAt: OutboxFixture.now))
      #expect(try await fixture.texts().isEmpty)
      try await fixture.deliver(both.filter { $0.text == "a1" })
      for expected in ["b1", "b2", "a2"] {
        let next = try await fixture.lease()
        #expect(next.map(\.text) == [expected])
        try await fixture.deliver(next)
      }
    }
  }

  @Test func `has rows of several customers wait for all of them`() async throws {
    try await with { fixture in
      let (now, scope) = (OutboxFixture.now, fixture.scope)
      try await fixture.pool.transaction { session throws(DatabaseError) in
        let roads = try OutboxTable.roads(of: [scope.app], in: session)
        let both = OutboxTable.Outgoing(
          message: .sha256([9]), addressee: .init(scope, epoch: nil, at: now, proof: .proven), proof: .proven, size: 1,
          members: [.originalTransactionID("1"), .originalTransactionID("2")])
        try OutboxTable.enqueue(
          [
            Self.outgoing("a1", "1", fixture), Self.outgoing("b1", "2", fixture), both,
            Self.outgoing("b2", "2", fixture),
          ], roads, in: session)
      }
      let first = try await fixture.turn(wanted: [.proven: 9]).leased
      #expect(first.count == 2)
      _ = try await fixture.turn([Settlement(first[0], .delivered)])
      #expect(try await sequences(fixture).isEmpty, "b1 is still on its way")
      _ = try await fixture.turn([Settlement(first[1], .delivered)])
      #expect(try await sequences(fixture) == [first[1].sequence + 1])
    }
  }

  @Test func `brings a dead message back before those that wait behind it`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([
        fixture.entry("a1", ["1"]), fixture.entry("a2", ["1"]), fixture.entry("a3", ["1"]),
      ])
      let first = try await fixture.lease()
      try await fixture.settle(first, .dead(error: "answered 410"))
      let sequence = first[0].1.sequence
      try await fixture.pool.transaction { session throws(DatabaseError) in
        _ = try OutboxTable.replay([sequence], at: OutboxFixture.now, in: session)
      }
      for expected in ["a1", "a2", "a3"] {
        let next = try await fixture.lease()
        #expect(next.map(\.text) == [expected])
        try await fixture.deliver(next)
      }
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox_keys") == 0)
    }
  }

  @Test func `goes on behind a message that is given up by hand, also while it is on its way`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([fixture.entry("a1", ["1"]), fixture.entry("a2", ["1"])])
      let first = try await fixture.lease()
      #expect(try await fixture.texts().isEmpty)
      let sequence = first[0].1.sequence
      try await fixture.pool.transaction { session throws(DatabaseError) in
        #expect(try OutboxTable.giveUp([sequence], at: OutboxFixture.now, in: session) == 1)
      }
      #expect(try await fixture.texts() == ["a2"])
      try await fixture.deliver(first)
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox WHERE state = 1") == 1, "it was taken after all")
    }
  }

  @Test func `leases each class by itself, and orders a customer over all of them`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([
        fixture.entry("claimed", ["1"], proof: .claimed), fixture.entry("proven", ["1"]), fixture.refused("aside"),
        fixture.entry("other", ["2"]),
      ])
      #expect(try await fixture.lease([.proven]).map(\.text) == ["other"])
      #expect(try await fixture.lease([.unproven]).map(\.text) == ["aside"])
      let claimed = try await fixture.lease([.claimed])
      #expect(claimed.map(\.text) == ["claimed"] && claimed[0].1.proof == .claimed)
      try await fixture.deliver(claimed)
      #expect(try await fixture.lease([.proven]).map(\.text) == ["proven"])
    }
  }

  @Test func `holds a signed message behind a claimed one of its customer for one minute at most`() async throws {
    try await with { fixture in
      let now = OutboxFixture.now
      _ = try await fixture.ledger.append([
        fixture.entry("claimed", ["1"], proof: .claimed), fixture.entry("signed 1", ["1"]),
        fixture.entry("signed 2", ["1"]), fixture.entry("claimed 2", ["1"], proof: .claimed),
      ])
      let claimed = try await fixture.lease()
      #expect(claimed.map(\.text) == ["claimed"])
      // The old back end refuses it: a body that anybody with the shared secret can have made.
      try await fixture.settle(claimed, .failed(error: "answered 400", retryAt: now + .hours(1)))
      #expect(try await fixture.lease(at: now + .milliseconds(59_999)).isEmpty)
      #expect(
        try await fixture.count("SELECT COUNT(*) FROM outbox WHERE class = 1 AND readiness = 2") == 1,
        "no blocked row depends on a clock: the second one waits for the first")
      let due = try await fixture.pool.read { session throws(DatabaseError) in
        try OutboxTable.due(at: now + .minutes(1), in: session)
      }
      #expect(due.first?.due == [.proven])
      for expected in ["signed 1", "signed 2"] {
        let next = try await fixture.lease(at: now + .minutes(1))
        #expect(next.map(\.text) == [expected])
        try await fixture.deliver(next)
      }
      #expect(try await fixture.lease(at: now + .minutes(1)).isEmpty, "claimed messages keep their order")
      let retried = try await fixture.lease(at: now + .hours(1))
      #expect(retried.map(\.text) == ["claimed"])
      try await fixture.deliver(retried)
      #expect(try await fixture.lease(at: now + .hours(1)).map(\.text) == ["claimed 2"])
    }
  }

  @Test func `sends a signed message as soon as the claimed one before it is settled`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([
        fixture.entry("claimed 1", ["1"], proof: .claimed), fixture.entry("claimed 2", ["1"], proof: .claimed),
        fixture.entry("signed", ["1"]),
      ])
      for expected in ["claimed 1", "claimed 2", "signed"] {
        let next = try await fixture.lease()
        #expect(next.map(\.text) == [expected])
        try await fixture.deliver(next)
      }
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox_keys") == 0)
    }
  }

  @Test func `has a claimed message wait for every earlier one of its customer`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([
        fixture.entry("signed 1", ["1"]), fixture.entry("claimed", ["1"], proof: .claimed),
        fixture.entry("signed 2", ["1"]),
      ])
      let first = try await fixture.lease()
      #expect(first.map(\.text) == ["signed 1"])
      let later = OutboxFixture.now + .hours(1)
      try await fixture.settle(first, .failed(error: "x", retryAt: later + .hours(1)))
      #expect(try await fixture.lease(at: later).isEmpty, "signed messages keep their order, whatever the time")
      let again = try await fixture.lease(at: later + .hours(1))
      #expect(again.map(\.text) == ["signed 1"])
      try await fixture.deliver(again)
      #expect(Set(try await fixture.lease(at: later + .hours(1)).map(\.text)) == ["claimed", "signed 2"])
    }
  }

  @Test func `moves a message that was set aside and is accepted now to the lane of its proof, in order`() async throws
  {
    try await with { fixture in
      _ = try await fixture.ledger.append([fixture.refused("a1"), fixture.entry("a2", ["1"])])
      #expect(try await fixture.ledger.append([fixture.entry("a1", ["1"])]) == [.stored])
      let first = try await fixture.lease([.proven])
      #expect(first.map(\.text) == ["a1"])
      try await fixture.deliver(first)
      #expect(try await fixture.texts() == ["a2"])
    }
  }

  @Test func `leases no more bytes than asked for, but one message whatever its size`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append((0..<5).map { fixture.entry("message \($0)", ["\($0)"]) })
      #expect(try await fixture.turn(wanted: [.proven: 9], bytes: 18).leased.count == 2)
      let outcome = try await fixture.turn(wanted: [.proven: 9], bytes: 0)
      #expect(outcome.leased.count == 1 && outcome.unfinished == [.proven])
    }
  }

  @Test func `is made anew after a rebuild, by the customers as they are then`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([fixture.entry("a1", ["1"]), fixture.entry("a2", ["1"])])
      // As if an older build had called the customer otherwise.
      try await fixture.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute("UPDATE outbox_keys SET customer = 'o0' ORDER BY sequence LIMIT 1")
      }
      let rebuild = Rebuild(fixture.base.configuration, .ofTests) { stored in
        var findings = Findings(app: SignedStory.app, environment: .sandbox)
        findings.links = [
          CustomerLink(
            app: SignedStory.app, environment: .sandbox, .originalTransactionID("1"), .appTransactionID("71"))
        ]
        return findings
      }
      _ = try await rebuild.run(now: OutboxFixture.now)
      #expect(try await fixture.texts() == ["a1"])
      #expect(try await fixture.count("SELECT COUNT(DISTINCT customer) FROM outbox_keys") == 1)
    }
  }
}
