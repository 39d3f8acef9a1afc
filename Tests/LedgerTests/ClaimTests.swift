@Suite struct `What was said of a message` {
  private func message(_ text: String, _ claim: SubmissionMetadata?) -> InboxMessage {
    InboxMessage(kind: .evidence, body: Array(text.utf8), claim: claim, receivedAt: SignedStory.start)
  }

  private func accepted(_ message: InboxMessage, _ app: App) -> LedgerEntry {
    let findings = Findings(app: app.bundleID, environment: .production)
    return LedgerEntry(
      message, .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "id")))
  }

  @Test func `is kept with it where its row does not say the same`() async throws {
    let fixture = try await LedgerFixture()
    let claims = [
      nil, SubmissionMetadata(), SubmissionMetadata(environment: .production),
      SubmissionMetadata(environment: .production, userID: "ada"),
      SubmissionMetadata(userID: "bob"),
    ]
    let messages = claims.enumerated().map { message("\($0)", $1) }
    for _ in 0..<2 { _ = try await fixture.ledger.append(messages.map { accepted($0, fixture.app) }) }
    try await fixture.pool.read { session throws(DatabaseError) in
      for (message, claim) in zip(messages, claims) {
        let stored = try InboxTable.newest(limit: 2, digestPrefix: message.digest.bytes, in: session)
        #expect(stored.map(\.claim) == [claim ?? SubmissionMetadata(environment: .production)])
      }
      #expect(try session.query("SELECT digest FROM claims").count == 3)
    }
    await fixture.pool.close()
  }

  @Test func `waits in quarantine with it, and goes with it`() async throws {
    let fixture = try await LedgerFixture()
    let claim = SubmissionMetadata(environment: .sandbox)
    let (waiting, mended) = (message("waiting", claim), message("mended", claim))
    let refusal = LedgerEntry.QuarantineReason(source: .legacy, code: "test", detail: "", claimedApp: nil)
    _ = try await fixture.ledger.append([waiting, mended].map { LedgerEntry($0, .quarantined(refusal)) })
    _ = try await fixture.ledger.append([accepted(mended, fixture.app)])
    try await fixture.pool.transaction { session throws(DatabaseError) in
      let page = try QuarantineTable.page(after: nil, code: nil, digestPrefix: nil, limit: 9, in: session)
      #expect(page.map(\.message.claim) == [claim, claim])
      let late = SignedStory.start + .days(1)
      #expect(try QuarantineTable.purge(receivedBefore: late, code: "other", limit: 9, in: session) == 0)
      #expect(try QuarantineTable.purge(receivedBefore: late, code: "test", limit: 9, in: session) == 2)
      let left = try session.query("SELECT digest FROM claims")
      #expect(try left.map { row throws(DatabaseError) in try row.bytes(0) } == [mended.digest.bytes])
    }
    await fixture.pool.close()
  }
}
