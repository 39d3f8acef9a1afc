@testable import Ledger

/// A stranger's copy of a V1 notification without its password is one message with Apple's own, and must not stand for it.
@Suite struct `A stranger's copy of a notification` {
  private static let identity = Array("a V1 notification but for its password".utf8)

  private func entry(_ text: String, _ proof: ProofClass, scope: Scope) -> Entry {
    let message = InboxMessage(
      kind: .notification, body: Array(text.utf8), identity: Self.identity, receivedAt: OutboxFixture.now)
    let refusal = Entry.Refusal(source: .legacy, code: "missingSharedSecret", detail: "", claimedApp: nil)
    return Entry(
      message, .quarantined(refusal), addressee: .init(scope, epoch: 1, at: OutboxFixture.now, proof: proof))
  }

  /// Of the message, as Apple sent it or as an operator replays it.
  private func accepted(_ text: String, in fixture: OutboxFixture) -> Entry {
    var entry = fixture.entry(text, ["1"], proof: .claimed)
    entry.message = InboxMessage(
      kind: .notification, body: Array(text.utf8), identity: Self.identity, receivedAt: OutboxFixture.now)
    return entry
  }

  /// What is sent after the copy was settled, and what is left in the order of delivery.
  private func sent(
    after outcome: Settlement.Outcome, acceptedWhileSent: Bool = false, as text: String = "Apple's"
  ) async throws -> [String] {
    let fixture = try await OutboxFixture()
    let copy = entry("stranger's", .unproven, scope: fixture.scope)
    #expect(try await fixture.ledger.append([copy]) == [.quarantined])
    let leased = try await fixture.lease()
    #expect(leased.map(\.text) == ["stranger's"] && leased.map(\.1.proof) == [.unproven])
    let own = accepted(text, in: fixture)
    if acceptedWhileSent {
      #expect(try await fixture.ledger.append([own]) == [.stored])
      // What is read of it from now on is Apple's own: the delivery gives the lease back, and sends it under the new proof.
      #expect(try await proven(leased, fixture) == leased.map(\.1.sequence))
    } else {
      #expect(try await proven(leased, fixture).isEmpty)
    }
    try await fixture.settle(leased, outcome)
    if !acceptedWhileSent { #expect(try await fixture.ledger.append([own]) == [.stored]) }
    let after = try await fixture.lease()
    try await fixture.deliver(after)
    // Settled twice in one turn, as after a commit of unknown outcome.
    try await fixture.deliver(after + after)
    #expect(try await fixture.count("SELECT COUNT(*) FROM outbox_keys") == 0)
    #expect(try await fixture.count("SELECT COUNT(*) FROM outbox_members") == 0)
    #expect(try await fixture.texts(at: OutboxFixture.now + .hours(1)).isEmpty)
    await fixture.pool.close()
    return after.map(\.text)
  }

  private func proven(_ leased: [(text: String, LeasedDelivery)], _ fixture: OutboxFixture) async throws -> [Int64] {
    try await fixture.pool.read { session throws(DatabaseError) in
      try OutboxTable.proven(among: leased.map(\.1.sequence), in: session).sorted()
    }
  }

  @Test(arguments: [Settlement.Outcome.delivered, .dead(error: "answered 403")], [false, true])
  func `does not stand for Apple's, whatever the back end made of it`(
    outcome: Settlement.Outcome, acceptedWhileSent: Bool
  ) async throws {
    #expect(try await sent(after: outcome, acceptedWhileSent: acceptedWhileSent) == ["Apple's"])
  }

  @Test func `is sent again, when it is accepted later, only if it was given up`() async throws {
    #expect(try await sent(after: .delivered, as: "stranger's").isEmpty)
    #expect(try await sent(after: .dead(error: "answered 403"), as: "stranger's") == ["stranger's"])
  }

  /// Settled between two statements of the commit that accepts Apple's, it would stand for it for ever.
  @Test func `cannot be settled while Apple's is put into the outbox`() async throws {
    let fixture = try await OutboxFixture()
    let copy = entry("stranger's", .unproven, scope: fixture.scope)
    _ = try await fixture.ledger.append([copy])
    let (digest, database, app) = (copy.message.digest, fixture.base.configuration, fixture.base.app.id)
    let addressee = Entry.Addressee(fixture.scope, epoch: 1, at: OutboxFixture.now, proof: .claimed)
    let settling = Mutex<DatabaseError.Code?>(nil)
    try await fixture.pool.transaction { session throws(DatabaseError) in
      session.onStatement = { _, sql throws(DatabaseError) in
        guard sql.text.contains("UPDATE outbox FORCE INDEX (message)") else { return }
        let other = try Session(database)
        try other.run("SET SESSION innodb_lock_wait_timeout = 1")
        do throws(DatabaseError) {
          _ = try other.execute("UPDATE outbox SET state = 1 WHERE message = \(digest.bytes)")
        } catch {
          settling.withLock { $0 = error.code }
        }
      }
      defer { session.onStatement = nil }
      var outgoing = OutboxTable.Outgoing(message: digest, addressee: addressee, proof: .claimed, size: 1, members: [])
      outgoing.earlier = .other
      try OutboxTable.enqueue([outgoing], try OutboxTable.roads(of: [app], in: session), .ofTests, in: session)
    }
    #expect(settling.withLock(\.self) == .lockWaitTimeout)
    await fixture.pool.close()
  }

  @Test func `gives way in quarantine to what Apple's networks sent, which is forwarded`() async throws {
    let fixture = try await OutboxFixture()
    _ = try await fixture.ledger.append([entry("stranger's", .unproven, scope: fixture.scope)])
    try await fixture.deliver(try await fixture.lease())
    var own = entry("Apple's, with a new secret", .claimed, scope: fixture.scope)
    own.isFromApple = true
    #expect(try await fixture.ledger.append([own]) == [.quarantinedBefore])
    let leased = try await fixture.lease([.claimed])
    #expect(leased.map(\.text) == ["Apple's, with a new secret"])
    try await fixture.deliver(leased)
    // Apple sends it again: it was heard.
    #expect(try await fixture.ledger.append([own]) == [.quarantinedBefore])
    #expect(try await fixture.lease().isEmpty)
    let usage = try await fixture.pool.read { session throws(DatabaseError) in
      try QuarantineTable.usage(in: session)
    }
    #expect(usage[.legacy] == QuarantineUsage(messages: 1, bytes: own.message.body.count))
    await fixture.pool.close()
  }

  /// As when it came first to another app's URL, or was given up before.
  @Test func `that is the same is forwarded for Apple's, unless the back end took it`() async throws {
    for outcome in [nil, Settlement.Outcome.delivered, .dead(error: "answered 403")] {
      let fixture = try await OutboxFixture()
      var copy = entry("the same", .unproven, scope: fixture.scope)
      if outcome == nil { copy.addressee = nil }
      #expect(try await fixture.ledger.append([copy]) == [.quarantined])
      if let outcome { try await fixture.settle(try await fixture.lease(), outcome) }
      var own = entry("the same", .claimed, scope: fixture.scope)
      own.isFromApple = true
      #expect(try await fixture.ledger.append([own]) == [.quarantinedBefore])
      #expect(try await fixture.lease([.claimed]).map(\.text) == (outcome == .delivered ? [] : ["the same"]))
      await fixture.pool.close()
    }
  }

  /// Both come at once, each in a line of its own for commits.
  @Test func `that is committed at the same moment gives way too`() async throws {
    for number in 0..<40 {
      let fixture = try await OutboxFixture()
      let copy = entry("stranger's", .unproven, scope: fixture.scope)
      var own = entry("Apple's", .claimed, scope: fixture.scope)
      own.isFromApple = true
      let apples = own
      async let first = fixture.ledger.append([copy])
      async let second = fixture.ledger.append([apples])
      _ = try await (first, second)
      let kept = try await fixture.pool.read { session throws(DatabaseError) in
        try QuarantineTable.find([copy.message.digest], .ofTests, in: session).map {
          String(decoding: $0.message.body, as: UTF8.self)
        }
      }
      #expect(kept == ["Apple's"], "try \(number)")
      #expect(try await fixture.lease([.claimed]).map(\.text) == ["Apple's"], "try \(number)")
      await fixture.pool.close()
    }
  }

  /// The body would come from the inbox, with the secret put back.
  @Test func `that comes when Apple's was accepted is not forwarded`() async throws {
    let fixture = try await OutboxFixture()
    #expect(try await fixture.ledger.append([accepted("Apple's", in: fixture)]) == [.stored])
    try await fixture.deliver(try await fixture.lease())
    _ = try await fixture.pool.transaction { session throws(DatabaseError) in
      try session.execute("DELETE FROM outbox")
    }
    #expect(try await fixture.ledger.append([entry("stranger's", .unproven, scope: fixture.scope)]) == [.quarantined])
    #expect(try await fixture.lease().isEmpty)
    await fixture.pool.close()
  }

  @Test func `does not keep from the back end what Apple's networks sent and is refused for something else`()
    async throws
  {
    let fixture = try await OutboxFixture()
    var copy = entry("stranger's", .unproven, scope: fixture.scope)
    copy.addressee = nil
    _ = try await fixture.ledger.append([copy])
    var own = entry("Apple's", .unproven, scope: fixture.scope)
    own.isFromApple = true
    #expect(try await fixture.ledger.append([own]) == [.quarantinedBefore])
    #expect(try await fixture.lease().map(\.text) == ["Apple's"])
    await fixture.pool.close()
  }

  /// Apple signed it, and anybody who has it can send it with other white space.
  @Test func `of a signed notification changes nothing that is kept`() async throws {
    let fixture = try await OutboxFixture()
    for (text, outcome) in [("signed", Appended.quarantined), ("signed ", .quarantinedBefore)] {
      #expect(try await fixture.ledger.append([entry(text, .proven, scope: fixture.scope)]) == [outcome])
    }
    #expect(try await fixture.lease().map(\.text) == ["signed"])
    await fixture.pool.close()
  }

  @Test func `at another app's URL is not sent as Apple's, and keeps no replay back`() async throws {
    let fixture = try await OutboxFixture()
    let other = try await fixture.pool.transaction { session throws(DatabaseError) in
      let app = try AppTable.add(bundleID: "com.example.other", appAppleID: nil, at: OutboxFixture.now, in: session)
      let scope = Scope(app: app.id, environment: .sandbox)
      try DestinationTable.setLegacy("https://other.example.com/apple", of: scope, at: OutboxFixture.now, in: session)
      guard let made = try DestinationTable.legacy(of: scope, in: session) else {
        throw DatabaseError(.column, "no destination")
      }
      return made
    }
    // A row at the other app's back end waits. The same message, set aside for this app, is replayed by an operator.
    var copy = entry("stranger's", .unproven, scope: other.scope)
    copy.addressee?.epoch = nil
    _ = try await fixture.ledger.append([copy])
    var replayed = entry("stranger's", .unproven, scope: fixture.scope)
    replayed.addressee?.epoch = nil
    #expect(try await fixture.ledger.forward(setAside: [replayed]) == [copy.message.digest])
    #expect(try await fixture.ledger.forward(setAside: [replayed]).isEmpty)
    // Then Apple's own is accepted.
    #expect(try await fixture.ledger.append([accepted("Apple's", in: fixture)]) == [.stored])
    let digest = copy.message.digest
    let bodies = try await fixture.pool.read { session throws(DatabaseError) in
      try OutboxTable.messages([digest], for: other, .ofTests, in: session)
    }
    #expect(bodies[digest]?.message.body == Array("stranger's".utf8))
    await fixture.pool.close()
  }

  @Test func `that is purged at this moment has the commit made again`() async throws {
    let fixture = try await OutboxFixture()
    let copy = entry("stranger's", .unproven, scope: fixture.scope)
    guard case .quarantined(let refusal) = copy.content else { throw DatabaseError(.misuse, "not refused") }
    let message = copy.message
    await #expect(throws: DatabaseError(.recordChanged, "")) {
      // Not through the pool, which would make it again.
      let connection = try await Connection.open(fixture.base.configuration)
      try await connection.read { session throws(DatabaseError) in
        try QuarantineTable.replace(
          with: message, refusal, BodyVault.ofTests.seal(message, sharesHeaders: false), in: session)
      }
    }
    await fixture.pool.close()
  }

  @Test func `does not take the place of one that Apple's networks sent with a new secret`() async throws {
    let fixture = try await OutboxFixture()
    let strangers = (0..<OutboxTable.mostUnproven).map { number in
      var entry = entry("junk \(number)", .unproven, scope: fixture.scope)
      entry.message = InboxMessage(
        kind: .notification, body: Array("junk \(number)".utf8), receivedAt: OutboxFixture.now)
      return entry
    }
    _ = try await fixture.ledger.append(strangers)
    #expect(try await fixture.ledger.append([entry("Apple's", .claimed, scope: fixture.scope)]) == [.quarantined])
    #expect(try await fixture.lease([.claimed]).map(\.text) == ["Apple's"])
    await fixture.pool.close()
  }
}
