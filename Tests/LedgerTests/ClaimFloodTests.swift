@testable import Ledger

/// Whoever has the app's shared secret can claim any number of things below somebody's originalTransactionId.
@Suite struct `A flood of claims` {
  private let customer = LargeCustomer(.periods, of: SignedStory.app)

  private func with(_ body: (LedgerFixture) async throws -> Void) async throws {
    let fixture = try await LedgerFixture()
    do {
      let message = InboxMessage(kind: .notification, body: .random(count: 16), receivedAt: LargeCustomer.start)
      let findings = customer.findings(0)
      let entry = LedgerEntry(
        message,
        .accepted(LedgerEntry.AcceptedMessage(app: fixture.app.id, findings: findings, signedAt: nil, title: "t")))
      #expect(try await fixture.ledger.append([entry]) == [.stored])
      try await body(fixture)
    } catch {
      await fixture.pool.close()
      throw error
    }
    await fixture.pool.close()
  }

  private func dossier(_ fixture: LedgerFixture) async throws -> CustomerRecord {
    let found = try await fixture.ledger.dossiers(
      of: customer.originalTransactionID(0), app: fixture.app, extent: .customers)
    return try #require(found.first)
  }

  private func execute(_ statement: SQL, _ fixture: LedgerFixture) async throws {
    try await fixture.pool.transaction { session throws(DatabaseError) in _ = try session.execute(statement) }
  }

  @Test func `leaves all that is signed, and as many claims as one customer may have`() async throws {
    try await with { fixture in
      let signed = try await dossier(fixture)
      #expect(!signed.claimsAreCut && signed.purchases.count == 1)
      let lines = SQL.numbers(30_000)
      // Lines before and behind the signed one, of two sources that nobody signs.
      try await execute(
        """
        INSERT INTO purchases SELECT app, environment, original_transaction_id,
          CONCAT(IF(seq % 2 = 0, '0', 'z'), LPAD(seq, 8, '0')), 30, product_id, as_of, '{}', message, precedence
        FROM purchases JOIN \(lines) WHERE source = 50
        """, fixture)
      try await execute(
        """
        INSERT INTO purchases SELECT app, environment, original_transaction_id, 'answered', 40, product_id, as_of, '{}',
          message, precedence FROM purchases WHERE source = 50
        """, fixture)
      try await execute(
        """
        INSERT INTO purchase_marks SELECT app, environment, original_transaction_id, line, source, 'm', as_of, '{}',
          message, precedence FROM purchases WHERE source < 50
        """, fixture)
      let flooded = try await dossier(fixture)
      #expect(flooded.claimsAreCut)
      #expect(flooded.purchases.filter(\.source.isSigned) == signed.purchases)
      let claimed = flooded.purchases.filter { $0.source == .notificationV1 }
      // The last of them by key; those before follow the same rule in a rebuilt table.
      #expect(
        Set(claimed.map(\.key)).count == IDResolution.mostClaims && claimed.allSatisfy { $0.key.line.text > "z00010" })
      #expect(flooded.purchases.contains { $0.source == .verifyReceiptAnswer }, "a flood of one source hides no other")
      #expect(flooded.purchases.map(\.key) == flooded.purchases.map(\.key).sorted())
    }
  }

  @Test func `of events and accounts leaves all that is signed`() async throws {
    try await with { fixture in
      let lines = SQL.numbers(10_500)
      let original = customer.originalTransactionID(0)
      try await execute(
        """
        INSERT INTO events (app, environment, id, notification_type, original_transaction_id, date, source, as_of, details,
          message, precedence)
        SELECT app, environment, CONCAT('e', seq), 'REFUND', original_transaction_id, seq, IF(seq = 1, 50, 30), seq, '{}',
          message, precedence FROM purchases JOIN \(lines)
        """, fixture)
      try await execute(
        """
        INSERT INTO claimed_attributions SELECT app, environment, original_transaction_id, 2, '', CONCAT('u', seq), 1, 1, message
        FROM purchases JOIN \(lines)
        """, fixture)
      let proven = try await dossier(fixture).attributions.filter { !$0.isClaimed }
      let flooded = try await dossier(fixture)
      #expect(flooded.claimsAreCut && flooded.purchases.count == 1)
      #expect(flooded.events.filter(\.source.isSigned).map(\.date) == [Timestamp(1), LargeCustomer.start])
      #expect(flooded.events.count == IDResolution.mostClaims + 2)
      #expect(flooded.events.map(\.date) == flooded.events.map(\.date).sorted())
      #expect(!proven.isEmpty && flooded.attributions.filter { !$0.isClaimed } == proven)
      #expect(flooded.attributions.filter(\.isClaimed).count == IDResolution.mostClaims)
      #expect(flooded.originalTransactionIDs == [original])
    }
  }

  @Test func `to have somebody's id leaves the one that has it`() async throws {
    try await with { fixture in
      try await execute(
        """
        INSERT INTO claimed_aliases SELECT app, environment, \(customer.originalTransactionID(0)), 1, CONCAT('5', seq), '', 1, 1
        FROM purchases JOIN \(SQL.numbers(IDResolution.mostOriginals + 1))
        """, fixture)
      let found = try await dossier(fixture)
      #expect(found.claimsAreCut && found.purchases.count == 1)
      #expect(found.claimedOriginals.count == IDResolution.mostOriginals)
    }
  }
}
