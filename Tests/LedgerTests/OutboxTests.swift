@testable import Ledger

@Suite struct `The outbox` {
  private func with(_ body: (OutboxFixture) async throws -> Void) async throws {
    let fixture = try await OutboxFixture()
    do { try await body(fixture) } catch {
      await fixture.pool.close()
      throw error
    }
    await fixture.pool.close()
  }

  @Test func `gets each new message once, and nothing of what is not forwarded`() async throws {
    try await with { fixture in
      let entries = [
        fixture.entry("a", ["1"]), fixture.entry("b", ["2"]), fixture.refused("c"),
        fixture.entry("evidence", ["3"], forwarded: false),
      ]
      let outcomes = try await fixture.ledger.append(entries)
      #expect(outcomes == [.stored, .stored, .quarantined, .stored])
      #expect(try await fixture.ledger.append(entries) == [.duplicate, .duplicate, .quarantinedBefore, .duplicate])
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox") == 3)
      // Taken in after all: it was forwarded when it was set aside.
      #expect(try await fixture.ledger.append([fixture.entry("c", ["4"])]) == [.stored])
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox") == 3)
      #expect(try await fixture.texts().sorted() == ["a", "b", "c"])
    }
  }

  @Test func `refuses whoever decided by an old stage, and him alone`() async throws {
    try await with { fixture in
      let scope = fixture.scope
      let flag = StageRecord(environment: .sandbox, stage: .record, epoch: 1)
      let isFirst = try await fixture.pool.transaction { session throws(DatabaseError) in
        try StageTable.advance(scope, from: flag, to: .legacy, at: OutboxFixture.now, in: session)
      }
      #expect(isFirst)
      let isSecond = try await fixture.pool.transaction { session throws(DatabaseError) in
        try StageTable.advance(scope, from: flag, to: .record, at: OutboxFixture.now, in: session)
      }
      #expect(!isSecond)
      let entries = [
        fixture.entry("old", ["1"], epoch: 1), fixture.entry("new", ["1"], epoch: 2),
        fixture.entry("replay", ["1"], epoch: nil),
      ]
      #expect(try await fixture.ledger.append(entries) == [.stageChanged, .stored, .stored])
      #expect(try await fixture.count("SELECT COUNT(*) FROM inbox") == 2)
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox") == 2)

      let commit = GroupCommit(fixture.ledger)
      let late = fixture.entry("late", ["1"], epoch: 1)
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await commit.run() }
        do throws(GroupCommit.Failure) {
          let appended = try await commit.append(late)
          Issue.record("written by an old stage: \(appended)")
        } catch {
          #expect(error == .stageChanged)
        }
        group.cancelAll()
      }
    }
  }

  @Test func `does not have a message decided anew that was kept before the stage changed`() async throws {
    try await with { fixture in
      let scope = fixture.scope
      let entries = [fixture.entry("kept", ["1"]), fixture.refused("aside")]
      #expect(try await fixture.ledger.append(entries) == [.stored, .quarantined])
      _ = try await fixture.pool.transaction { session throws(DatabaseError) in
        try StageTable.advance(
          scope, from: StageRecord(environment: .sandbox, stage: .record, epoch: 1), to: .legacy, at: OutboxFixture.now,
          in: session)
      }
      // As after a commit whose outcome was unknown: passed through as well, the old back end would hear them twice.
      let again = try await fixture.ledger.append(entries + [fixture.entry("new", ["1"])])
      #expect(again == [.duplicate, .quarantinedBefore, .stageChanged])
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox") == 2)
    }
  }

  @Test func `makes a change of stage wait for those who write by the old one`() async throws {
    try await with { fixture in
      let scope = fixture.scope
      let writer = try await Connection.open(fixture.base.configuration)
      let changer = try await Connection.open(fixture.base.configuration)
      try await writer.read { session throws(DatabaseError) in
        try session.run("START TRANSACTION")
        _ = try OutboxTable.roads(of: [scope.app], in: session)
      }
      let error = await #expect(throws: DatabaseError.self) {
        try await changer.transaction { session throws(DatabaseError) in
          try session.run("SET SESSION innodb_lock_wait_timeout = 1")
          let flag = StageRecord(environment: .sandbox, stage: .record, epoch: 1)
          _ = try StageTable.advance(scope, from: flag, to: .legacy, at: OutboxFixture.now, in: session)
        }
      }
      #expect(error?.code == .lockWaitTimeout)
      try await writer.read { session throws(DatabaseError) in try session.run("COMMIT") }
      await writer.close()
      await changer.close()
    }
  }

  @Test func `sends a customer's messages one after the other, customers beside one another`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([
        fixture.entry("a1", ["1"]), fixture.entry("b1", ["2"]), fixture.entry("a2", ["1"]), fixture.entry("free"),
      ])
      _ = try await fixture.ledger.append([fixture.entry("a3", ["1"]), fixture.entry("b2", ["2"])])
      let first = try await fixture.lease()
      #expect(first.map(\.text) == ["a1", "b1", "free"])
      #expect(try await fixture.texts().isEmpty, "leased by another process")
      try await fixture.deliver(first.filter { $0.text == "a1" })
      #expect(try await fixture.texts() == ["a2"])
      // A process that was killed: its leases end, and the order holds all the same.
      #expect(try await fixture.texts(at: OutboxFixture.now + .seconds(61)) == ["b1", "a2", "free"])
    }
  }

  @Test func `keeps the order of customers that join while their messages wait`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([fixture.entry("a1", ["1"]), fixture.entry("b1", ["2"])])
      // Evidence, which is not forwarded itself, tells that they are one.
      _ = try await fixture.ledger.append([fixture.entry("join", ["1", "2"], forwarded: false)])
      _ = try await fixture.ledger.append([fixture.entry("b2", ["2"]), fixture.entry("a2", ["1"])])
      for expected in ["a1", "b1", "b2", "a2"] {
        let leased = try await fixture.lease()
        #expect(leased.map(\.text) == [expected])
        try await fixture.deliver(leased)
      }
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox_members") == 0)
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox_keys") == 0)
    }
  }

  @Test func `gives a message to one process only, however many ask at once`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append((0..<40).map { fixture.entry("m\($0)", ["\($0)"]) })
      let taken = try await withThrowingTaskGroup(of: [String].self) { group in
        for _ in 0..<4 { group.addTask { try await fixture.lease(limit: 40).map(\.text) } }
        return try await group.reduce(into: [String]()) { $0 += $1 }
      }
      #expect(taken.count == 40 && Set(taken).count == 40)
    }
  }

  @Test func `lets the dead go by, and brings them back in their place`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([fixture.entry("a1", ["1"]), fixture.entry("a2", ["1"])])
      let (now, leased) = (OutboxFixture.now, try await fixture.lease())
      let first = leased[0].1
      try await fixture.settle(leased, .failed(error: "answered 500", retryAt: now + .hours(1)))
      #expect(try await fixture.texts().isEmpty)
      let (given, depth) = try await fixture.pool.transaction { session throws(DatabaseError) in
        (
          try OutboxTable.giveUp([first.sequence], at: now, in: session),
          try OutboxTable.depths(in: session)[fixture.destination.id]
        )
      }
      #expect(given == 1)
      #expect(depth?.waiting == 1 && depth?.dead == 1 && depth?.oldest == now)
      let replayed = try await fixture.pool.transaction { session throws(DatabaseError) in
        try OutboxTable.replay([first.sequence], at: now, in: session).changed
      }
      #expect(replayed == 1)
      #expect(try await fixture.texts() == ["a1"])
    }
  }

  @Test func `notes nothing for a lease that was lost, but a delivery always`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([fixture.entry("a1", ["1"])])
      let later = OutboxFixture.now + .seconds(61)
      let (lost, _) = (try await fixture.lease(), try await fixture.lease(at: later))
      try await fixture.settle(lost, .dead(error: "late"), at: later)
      try await fixture.settle(lost, .released, at: later)
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox WHERE state = 0 AND error IS NULL") == 1)
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox_keys") == 1)
      try await fixture.settle(lost, .delivered, at: later)
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox WHERE state = 1") == 1)
    }
  }

  @Test func `forgets what was delivered long ago, but not what a replay would send again`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([
        fixture.entry("a1", ["1"]), fixture.refused("kept"), fixture.entry("b1", ["2"]),
      ])
      try await fixture.deliver(try await fixture.lease(limit: 1))
      let purged = try await fixture.pool.transaction { session throws(DatabaseError) in
        try OutboxTable.purge(deliveredBefore: OutboxFixture.now + .days(30), limit: 10, in: session)
      }
      #expect(purged == 1)
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox") == 2)
    }
  }

  @Test func `takes nothing for a destination that is off, and keeps what waits`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([fixture.entry("a1", ["1"])])
      try await fixture.pool.transaction { session throws(DatabaseError) in
        try DestinationTable.disable(fixture.destination, at: OutboxFixture.now, in: session)
      }
      _ = try await fixture.ledger.append([fixture.entry("a2", ["1"])])
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox") == 1)
      #expect(fixture.destination.host == "old.example.com")
    }
  }

  @Test func `has room for so many messages that nobody vouches for, and for all others`() async throws {
    try await with { fixture in
      let most = OutboxTable.mostUnproven
      let refused = (0..<most + 5).map { fixture.refused("junk \($0)") }
      for part in refused.parts(of: 250) {
        let outcomes = try await fixture.ledger.append(Array(part))
        #expect(outcomes.allSatisfy { $0 == .quarantined })
      }
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox WHERE class = 3") == most)
      #expect(fixture.ledger.takeUnforwarded() == 5 && fixture.ledger.takeUnforwarded() == 0)
      #expect(try await fixture.count("SELECT COUNT(*) FROM quarantine") == most + 5, "set aside all the same")
      _ = try await fixture.ledger.append([fixture.entry("signed", ["1"]), fixture.entry("V1", ["2"], proof: .claimed)])
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox") == most + 2)
      try await fixture.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute("UPDATE outbox SET state = 2 WHERE class = 3 LIMIT 1")
      }
      _ = try await fixture.ledger.append([fixture.refused("one more"), fixture.refused("one too many")])
      #expect(fixture.ledger.takeUnforwarded() == 1)
    }
  }

  @Test func `brings back no more dead ones that nobody vouches for than may wait, and all others`() async throws {
    try await with { fixture in
      let most = OutboxTable.mostUnproven
      func append(_ name: String, _ count: Int) async throws {
        let junk = (0..<count).map { fixture.refused("\(name) \($0)") }
        for part in junk.parts(of: 250) { _ = try await fixture.ledger.append(Array(part)) }
      }
      try await append("early", 20)
      _ = try await fixture.ledger.append([fixture.entry("signed", ["1"])])
      let dead = try await fixture.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute("UPDATE outbox SET state = 2")
        var selection = OutboxTable.Selection()
        selection.states = [.dead]
        return try OutboxTable.rows(selection, limit: 100, in: session).map(\.sequence)
      }
      try await append("late", most - 5)
      func replay() async throws -> OutboxTable.Change {
        try await fixture.pool.transaction { session throws(DatabaseError) in
          try OutboxTable.replay(dead, at: OutboxFixture.now, in: session)
        }
      }
      let first = try await replay()
      #expect(first.changed == 6 && first.withoutRoom == 15)
      let second = try await replay()
      #expect(second.changed == 0 && second.withoutRoom == 15, "what was brought back takes the room")
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox WHERE class = 3 AND state = 0") == most)
    }
  }

  @Test func `takes what stays in quarantine when an operator asks for it, once and within the bound`() async throws {
    try await with { fixture in
      var denied = fixture.refused("denied")
      let addressee = denied.addressee
      denied.addressee = nil
      _ = try await fixture.ledger.append([denied, fixture.refused("forwarded before")])
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox") == 1)
      denied.addressee = addressee
      denied.addressee?.epoch = nil
      let setAside = [denied, fixture.refused("forwarded before")]
      #expect(try await fixture.ledger.forward(setAside: setAside) == [denied.message.digest])
      #expect(try await fixture.ledger.forward(setAside: setAside).isEmpty)
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox WHERE class = 3") == 2)
      #expect(try await Set(fixture.texts()) == ["denied", "forwarded before"])
    }
  }

  @Test func `makes the keys anew after a rebuild, a thousand at a time, before it sends`() async throws {
    try await with { fixture in
      try await Backlog(fixture: fixture).grow(to: 1_100)
      try await fixture.pool.transaction { session throws(DatabaseError) in
        // The customers had other names before.
        _ = try session.execute("UPDATE outbox_keys SET customer = CONCAT('o9', sequence)")
        try OutboxTable.unsort(in: session)
      }
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox WHERE readiness = 0") == 0, "no long turn")
      let due = try await fixture.pool.read { session throws(DatabaseError) in
        try OutboxTable.due(at: OutboxFixture.now, in: session)
      }
      #expect(due.first?.needsSorting == true)
      let held = try await fixture.turn(wanted: [.proven: 100])
      #expect(held.leased.isEmpty)
      #expect(held.needsSorting)
      #expect(try await fixture.sort() == 1_000)
      let first = try await fixture.turn(wanted: [.proven: 2_000])
      #expect(first.needsSorting)
      #expect(first.leased.allSatisfy { $0.sequence <= 1_000 })
      #expect((200..<300).contains(first.leased.count), "the first message of each customer")
      #expect(try await fixture.sort() == 100)
      #expect(try await fixture.sort() == 0)
      #expect(
        try await fixture.count("SELECT COUNT(*) FROM outbox_keys WHERE customer LIKE 'o9%' AND LENGTH(customer) > 4")
          == 0)
      #expect(try await !fixture.turn(wanted: [.proven: 100]).needsSorting)
    }
  }

  @Test func `frees a message in the sweep if the one before it was settled without a look at the order`() async throws
  {
    try await with { fixture in
      _ = try await fixture.ledger.append([fixture.entry("a1", ["1"]), fixture.entry("a2", ["1"])])
      let first = try await fixture.lease()
      #expect(first.map(\.text) == ["a1"])
      #expect(try await fixture.texts().isEmpty)
      let (destination, now) = (fixture.destination, OutboxFixture.now)
      let step = try await fixture.pool.transaction { session throws(DatabaseError) in
        let sequence = first[0].1.sequence
        _ = try session.execute(
          "UPDATE outbox SET state = 1, settled_at = \(now), owner = NULL WHERE sequence = \(sequence)")
        _ = try session.execute("DELETE FROM outbox_members WHERE sequence = \(sequence)")
        return try OutboxTable.sweep(destination, after: nil, limit: 10, at: now, in: session)
      }
      #expect(step.freed == 1)
      #expect(try await fixture.texts() == ["a2"])
    }
  }
}
