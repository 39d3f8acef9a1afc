@Suite struct `A dossier` {
  private func with(_ body: (LedgerFixture) async throws -> Void) async throws {
    let story = try SignedStory(customers: 2, periods: 2)
    let fixture = try await LedgerFixture()
    _ = try await fixture.ledger.append(story.messages.map { try story.entry($0, for: fixture.app) })
    do { try await body(fixture) } catch {
      await fixture.pool.close()
      throw error
    }
    await fixture.pool.close()
  }

  /// Customer 0 of the story: two subscriptions of two periods below one appTransactionId.
  @Test func `is found by an id of every kind`() async throws {
    try await with { fixture in
      let original = "20000001000"
      for (id, originals) in [
        (original, [original]), (original + "1", [original]), ("9" + original + "0", [original]),
        ("70000", [original, "20000001001"]),
      ] {
        let found = try await fixture.ledger.dossiers(of: id, app: fixture.app, extent: .purchases)
        #expect(found.map(\.environment) == [.sandbox], "\(id)")
        let dossier = try #require(found.first)
        #expect(dossier.originalTransactionIDs == originals, "\(id)")
        #expect(dossier.purchases.count == 2 * originals.count && dossier.renewals.count == originals.count)
        #expect(dossier.events.allSatisfy { originals.contains($0.originalTransactionID ?? "") })
        let customer = try await fixture.ledger.dossiers(of: id, app: fixture.app, extent: .customers)
        #expect(customer.first?.originalTransactionIDs == [original, "20000001001"])
        #expect(
          customer.first?.customers == [
            "o" + original: [
              .originalTransactionID(original), .originalTransactionID("20000001001"), .appTransactionID("70000"),
            ]
          ])
      }
    }
  }

  @Test func `is not found by another app, an unknown id or a part of one`() async throws {
    try await with { fixture in
      let other = try await fixture.pool.read { session throws(DatabaseError) in
        try AppTable.add(bundleID: "com.example.other", appAppleID: nil, at: SignedStory.start, in: session)
      }
      #expect(try await fixture.ledger.dossiers(of: "20000001000", app: other, extent: .customers).isEmpty)
      for id in ["", "0", "2000000100", "%", "' OR 1=1 -- ", "o20000001000"] {
        #expect(try await fixture.ledger.dossiers(of: id, app: fixture.app, extent: .customers).isEmpty, "\(id)")
      }
    }
  }

  /// People share accounts: a token finds several customers and makes one of none.
  @Test func `is found by an account token in either case, for all who gave it`() async throws {
    let fixture = try await LedgerFixture()
    let token = "7E3F2A5C-0000-4000-8000-000000000001"
    var findings = Findings(app: SignedStory.app, environment: .production)
    for id in ["11", "12"] {
      var facts = Facts<PurchaseField>()
      facts.set(.originalTransactionId, .string(id))
      facts.set(.appAccountToken, .string(id == "11" ? token : token.lowercased()))
      findings.purchases.append(
        PurchaseStatement(
          key: PurchaseKey(
            app: SignedStory.app, environment: .production, originalTransactionID: id, line: Line(text: "")),
          source: .signedV2, rank: Rank(asOf: SignedStory.start, tieBreak: .init(repeating: 1, count: 16)),
          facts: facts, message: .init(repeating: 2, count: 32)))
    }
    findings.links = findings.derivedLinks
    let message = InboxMessage(kind: .evidence, body: Array("x".utf8), receivedAt: SignedStory.start)
    let entry = LedgerEntry(
      message,
      .accepted(
        LedgerEntry.AcceptedMessage(app: fixture.app.id, findings: findings, signedAt: nil, title: "history of 2")))
    #expect(try await fixture.ledger.append([entry]) == [.stored])
    #expect(try await fixture.ledger.append([entry]) == [.duplicate])
    for name in [token, token.lowercased()] {
      let found = try await fixture.ledger.dossiers(of: name, app: fixture.app, extent: .customers)
      #expect(found.first?.originalTransactionIDs == ["11", "12"] && found.first?.environment == .production)
      #expect(found.first.map { Set($0.customers.keys) } == ["o11", "o12"])
    }
    await fixture.pool.close()
  }
}
