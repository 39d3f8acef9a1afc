@testable import Ledger

/// When an app was last heard of, as commits note it.
@Suite struct `An app is heard of` {
  private let now = SignedStory.start

  private static func entry(
    _ text: String, of app: App, kind: InboxMessage.Kind = .notification, title: String = "DID_RENEW", at: Timestamp
  ) -> LedgerEntry {
    let message = InboxMessage(kind: kind, body: Array(text.utf8), receivedAt: at)
    let findings = Findings(app: app.bundleID, environment: .sandbox)
    return LedgerEntry(
      message,
      .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: title)))
  }

  private static func last(_ base: LedgerFixture) async throws -> [NotificationHealth.Generation: Timestamp] {
    let scope = AppScope(app: base.app.id, environment: .sandbox)
    return try await base.pool.read { session throws(DatabaseError) in
      try LastNotificationTable.last(of: scope, in: session)
    }
  }

  @Test func `by what comes by itself, each generation for itself`() async throws {
    let base = try await LedgerFixture()
    func hear(_ entries: LedgerEntry...) async throws -> [AppendResult] { try await base.ledger.append(entries) }
    #expect(try await Self.last(base) == [:])
    #expect(
      try await hear(
        Self.entry("evidence", of: base.app, kind: .evidence, at: now),
        Self.entry("recovered", of: base.app, kind: .notificationHistory, at: now)) == [.stored, .stored])
    #expect(try await Self.last(base) == [:])
    #expect(try await hear(Self.entry("a", of: base.app, at: now)) == [.stored])
    #expect(try await Self.last(base) == [.v2: now])
    let later = now + .minutes(5)
    #expect(try await hear(Self.entry("b", of: base.app, title: "V1 CANCEL", at: later)) == [.stored])
    #expect(try await Self.last(base) == [.v2: now, .v1: later])
    // Sent again it is no news, by whom ever.
    #expect(try await hear(Self.entry("a", of: base.app, at: later)) == [.duplicate])
    #expect(try await Self.last(base) == [.v2: now, .v1: later])
    await base.pool.close()
  }

  @Test func `at most a minute later than it was, and never earlier`() async throws {
    let base = try await LedgerFixture()
    for step in 0..<30 {
      let at = now + .seconds(Int64(step * 10))
      #expect(try await base.ledger.append([Self.entry("\(step)", of: base.app, at: at)]) == [.stored])
      let last = try #require(try await Self.last(base)[.v2])
      #expect(last <= at && at - last < LastNotificationTable.every, "\(step)")
    }
    // Another process, whose clock is behind.
    let other = LedgerStore(pool: base.pool)
    #expect(try await other.append([Self.entry("late", of: base.app, at: now)]) == [.stored])
    let last = try #require(try await Self.last(base)[.v2])
    #expect(last >= now + .seconds(240))
    await base.pool.close()
  }
}
