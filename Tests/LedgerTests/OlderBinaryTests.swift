@testable import Ledger

/// A binary of schema 2 beside this one, on schema 3: its statements, as it sends them.
@Suite struct `An outbox that is shared with an older binary` {
  private func with(_ body: (OutboxFixture) async throws -> Void) async throws {
    let fixture = try await OutboxFixture()
    do { try await body(fixture) } catch {
      await fixture.pool.close()
      throw error
    }
    await fixture.pool.close()
  }

  /// What the older binary writes for messages that it takes in, besides the inbox.
  private func enqueue(_ messages: [(text: String, original: String)], _ fixture: OutboxFixture) async throws {
    _ = try await fixture.ledger.append(messages.map { fixture.entry($0.text, [$0.original], forwarded: false) })
    let (id, now) = (fixture.destination.id.number, OutboxFixture.now)
    try await fixture.pool.transaction { session throws(DatabaseError) in
      for (text, original) in messages {
        let digest = InboxMessage(kind: .notification, body: Array(text.utf8), receivedAt: now).digest
        _ = try session.execute(
          """
          INSERT INTO outbox (destination, message, created_at, due_at, expires_at)
          VALUES (\(id), \(digest.bytes), \(now), \(now), \(now + .days(3)))
          ON DUPLICATE KEY UPDATE message = VALUES(message)
          """)
        _ = try session.execute(
          """
          INSERT INTO outbox_members (destination, member, sequence)
          SELECT destination, \("o" + original), sequence FROM outbox WHERE message = \(digest.bytes)
          ON DUPLICATE KEY UPDATE member = VALUES(member)
          """)
      }
    }
  }

  /// What the older binary would lease: the texts of the messages.
  private func leasedByOlder(_ fixture: OutboxFixture) async throws -> [String] {
    let (scope, destination, now) = (fixture.scope, fixture.destination, OutboxFixture.now)
    let (app, environment) = (scope.app.number, scope.environment.code)
    let digests = try await fixture.pool.transaction { session throws(DatabaseError) in
      let due = try session.query(
        """
        SELECT o.sequence, o.message FROM outbox o FORCE INDEX (in_order)
        WHERE o.destination = \(destination.id.number) AND o.state = 0 AND o.due_at <= \(now)
        AND NOT EXISTS (SELECT 1 FROM outbox_members m
          JOIN outbox_members e ON e.destination = m.destination AND e.member = m.member AND e.sequence < m.sequence
          JOIN outbox w ON w.sequence = e.sequence AND w.state = 0
          WHERE m.sequence = o.sequence)
        AND NOT EXISTS (SELECT 1 FROM outbox_members m
          JOIN customers c ON c.app = \(app) AND c.environment = \(environment) AND c.node = m.member
          JOIN customers s ON s.app = \(app) AND s.environment = \(environment) AND s.label = c.label
          JOIN outbox_members e ON e.destination = m.destination AND e.member = s.node AND e.sequence < m.sequence
          JOIN outbox w ON w.sequence = e.sequence AND w.state = 0
          WHERE m.sequence = o.sequence)
        ORDER BY o.sequence LIMIT 32
        """)
      for row in due {
        _ = try session.execute(
          """
          UPDATE outbox SET owner = \([UInt8](repeating: 7, count: 16)), due_at = \(now + .seconds(60)),
            attempts = attempts + 1 WHERE sequence = \(try row.int64(0)) AND state = 0 AND due_at <= \(now)
          """)
      }
      return try due.map { row throws(DatabaseError) in try row.bytes(1) }
    }
    var texts: [String] = []
    for digest in digests {
      let body = try await fixture.pool.read { session throws(DatabaseError) in
        try InboxTable.newest(limit: 1, digestPrefix: digest, in: session).first?.message.body ?? []
      }
      texts.append(String(decoding: body, as: UTF8.self))
    }
    return texts
  }

  private func deliveredByOlder(_ text: String, _ fixture: OutboxFixture) async throws {
    let now = OutboxFixture.now
    let digest = InboxMessage(kind: .notification, body: Array(text.utf8), receivedAt: now).digest
    try await fixture.pool.transaction { session throws(DatabaseError) in
      let row = try session.query("SELECT sequence FROM outbox WHERE message = \(digest.bytes)").first
      guard let sequence = try row?.int64(0) else { return }
      _ = try session.execute(
        """
        UPDATE outbox SET state = 1, settled_at = \(now), error = NULL, owner = NULL WHERE sequence = \(sequence)
        """)
      _ = try session.execute("DELETE FROM outbox_members WHERE sequence = \(sequence)")
    }
  }

  @Test func `sends what the older one took in, in order with what it takes in itself`() async throws {
    try await with { fixture in
      try await enqueue([("a1", "1"), ("b1", "2"), ("a2", "1")], fixture)
      _ = try await fixture.ledger.append([fixture.entry("a3", ["1"]), fixture.entry("c1", ["3"])])
      let destination = fixture.destination
      let due = try await fixture.pool.read { session throws(DatabaseError) in
        try OutboxTable.due(at: OutboxFixture.now, in: session)
      }
      #expect(due.map(\.destination) == [destination] && due[0].needsSorting)
      // Unsorted rows come first: what is younger than one of them is not leased.
      let held = try await fixture.turn(wanted: [.proven: 9])
      #expect(held.leased.isEmpty && held.needsSorting)
      #expect(try await fixture.sort() == 3)
      let first = try await fixture.lease()
      #expect(Set(first.map(\.text)) == ["a1", "b1", "c1"])
      #expect(first.filter { $0.text != "c1" }.allSatisfy { $0.1.proof == .claimed }, "no signature was noted")
      for expected in ["a2", "a3"] {
        try await fixture.deliver(first)
        let next = try await fixture.lease()
        #expect(next.map(\.text) == [expected])
        try await fixture.deliver(next)
      }
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox_keys") == 0)
    }
  }

  @Test func `lets the older one send what it has taken in, in order`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([
        fixture.entry("a1", ["1"]), fixture.entry("a2", ["1"]), fixture.entry("b1", ["2"]),
      ])
      #expect(try await leasedByOlder(fixture) == ["a1", "b1"])
      #expect(try await fixture.texts().isEmpty, "a1 is on its way elsewhere")
      try await deliveredByOlder("a1", fixture)
      #expect(try await leasedByOlder(fixture) == ["a2"], "although it is blocked here")
    }
  }

  @Test func `goes on where the older one has stopped`() async throws {
    try await with { fixture in
      _ = try await fixture.ledger.append([fixture.entry("a1", ["1"]), fixture.entry("a2", ["1"])])
      #expect(try await leasedByOlder(fixture) == ["a1"])
      // a2 is blocked, and then the older one delivers a1 without a look at the order.
      #expect(try await fixture.texts().isEmpty)
      try await deliveredByOlder("a1", fixture)
      #expect(try await fixture.texts().isEmpty)
      let destination = fixture.destination
      let step = try await fixture.pool.transaction { session throws(DatabaseError) in
        try OutboxTable.sweep(destination, after: nil, limit: 10, at: OutboxFixture.now, in: session)
      }
      #expect(step.freed == 1)
      #expect(try await fixture.texts() == ["a2"])
      // What comes later clears away what was left, by itself.
      _ = try await fixture.ledger.append([fixture.entry("b1", ["2"])])
      #expect(try await leasedByOlder(fixture) == ["b1"])
      try await deliveredByOlder("b1", fixture)
      _ = try await fixture.ledger.append([fixture.entry("b2", ["2"])])
      #expect(try await fixture.texts() == ["b2"])
      // Also where that comes behind a message that was blocked by it.
      _ = try await fixture.ledger.append([fixture.entry("c1", ["3"]), fixture.entry("c2", ["3"])])
      #expect(try await leasedByOlder(fixture) == ["c1"])
      #expect(try await fixture.texts().isEmpty)
      try await deliveredByOlder("c1", fixture)
      _ = try await fixture.ledger.append([fixture.entry("c3", ["3"])])
      #expect(try await fixture.texts().isEmpty, "c3 waits for c2")
      #expect(try await fixture.texts() == ["c2"], "which is ready without the sweep")
    }
  }

  @Test func `keeps the order of thousands that waited before the schema changed`() async throws {
    try await with { fixture in
      try await Backlog(fixture: fixture).grow(to: 4_000)
      try await fixture.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute("UPDATE outbox SET readiness = 0, class = 0, size = 0")
        _ = try session.execute("DELETE FROM outbox_keys")
      }
      let held = try await fixture.turn(wanted: [.proven: 100])
      #expect(held.leased.isEmpty)
      var steps = 0
      while try await fixture.sort() > 0 { steps += 1 }
      #expect(steps == 4)
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox WHERE readiness = 1 AND class = 1") == 4_000)
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox_keys") == 4_000)
      let leased = try await fixture.turn(wanted: [.proven: 100]).leased
      let heads = try await fixture.count(
        "SELECT COUNT(*) FROM (SELECT MIN(sequence) AS head FROM outbox_keys GROUP BY customer) h JOIN outbox o ON o.sequence = h.head AND o.owner IS NOT NULL"
      )
      #expect(leased.count == 100 && heads == 100, "each is the first of its customer")
    }
  }
}
