@testable import Ledger

/// A message that was forwarded without proof, and has one now: another body of a V1 notification is another message.
@Suite struct `A message forwarded before it was proven` {
  private func entry(_ text: String, _ proof: TrustLevel, scope: AppScope) -> LedgerEntry {
    let message = InboxMessage(kind: .notification, body: Array(text.utf8), receivedAt: OutboxFixture.now)
    let refusal = LedgerEntry.QuarantineReason(source: .legacy, code: "noSharedSecret", detail: "", claimedApp: nil)
    return LedgerEntry(
      message, .quarantined(refusal), addressee: .init(scope, epoch: 1, at: OutboxFixture.now, proof: proof))
  }

  @Test func `is sent again, when it is accepted later, only if it was given up`() async throws {
    for (outcome, sent) in [(Settlement.Outcome.delivered, [String]()), (.dead(error: "answered 403"), ["one"])] {
      let fixture = try await OutboxFixture()
      #expect(try await fixture.ledger.append([entry("one", .unproven, scope: fixture.scope)]) == [.quarantined])
      try await fixture.settle(try await fixture.lease(), outcome)
      #expect(try await fixture.ledger.append([fixture.entry("one", ["1"], proof: .claimed)]) == [.stored])
      let after = try await fixture.lease()
      #expect(after.map(\.text) == sent)
      // Settled twice in one turn, as after a commit of unknown outcome.
      try await fixture.deliver(after + after)
      #expect(try await fixture.count("SELECT COUNT(*) FROM outbox_keys") == 0)
      #expect(try await fixture.texts(at: OutboxFixture.now + .hours(1)).isEmpty)
      await fixture.pool.close()
    }
  }

  /// With no password, or another one, it is a stranger's.
  @Test func `stands for no other body of the same notification`() async throws {
    let fixture = try await OutboxFixture()
    #expect(try await fixture.ledger.append([entry("stranger's", .unproven, scope: fixture.scope)]) == [.quarantined])
    try await fixture.deliver(try await fixture.lease())
    #expect(try await fixture.ledger.append([fixture.entry("Apple's", ["1"], proof: .claimed)]) == [.stored])
    let leased = try await fixture.lease()
    #expect(leased.map(\.text) == ["Apple's"])
    try await fixture.deliver(leased)
    #expect(
      try await fixture.ledger.append([entry("stranger's", .unproven, scope: fixture.scope)]) == [.quarantinedBefore])
    #expect(try await fixture.lease().isEmpty)
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

  @Test func `does not keep from the back end what Apple's networks sent and is refused for something else`()
    async throws
  {
    let fixture = try await OutboxFixture()
    var copy = entry("Apple's", .unproven, scope: fixture.scope)
    copy.addressee = nil
    _ = try await fixture.ledger.append([copy])
    var own = entry("Apple's", .unproven, scope: fixture.scope)
    own.isFromApple = true
    #expect(try await fixture.ledger.append([own]) == [.quarantinedBefore])
    #expect(try await fixture.lease().map(\.text) == ["Apple's"])
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
