@testable import Service

@Suite struct `A look-up below which many lines are claimed` {
  @Test func `is answered, the signed purchase first`() async throws {
    try await RunningService.with { service in
      let customer = LargeCustomer(.periods, of: RunningService.app)
      let app = try await service.pool.read { session throws(DatabaseError) in try AppTable.all(in: session)[0] }
      let message = InboxMessage(kind: .notification, body: .random(count: 16), receivedAt: LargeCustomer.start)
      let accepted = LedgerEntry.AcceptedMessage(
        app: app.id, findings: customer.findings(0), signedAt: nil, title: "notification")
      #expect(
        try await LedgerStore(pool: service.pool).append([LedgerEntry(message, .accepted(accepted))]) == [.stored])
      // As 100 notifications with 300 rows each would leave them.
      try await service.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute(
          """
          INSERT INTO purchases SELECT app, environment, original_transaction_id, CONCAT('0', i), 30, product_id, as_of,
            JSON_OBJECT('offerIdentifier', REPEAT('x', 1000)), message, precedence
          FROM purchases JOIN (WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            SELECT a.i + 300 * (b.i - 1) AS i FROM n a JOIN n b WHERE b.i <= 100) numbers
          """)
      }
      let path = "/v1/apps/\(RunningService.app)/purchases/\(customer.transactionID(0))"
      let (status, answer) = try await service.get(
        "\(path)?provenance=false&limit=3", token: service.token)
      #expect(status == 200, "\(answer)")
      let result = try #require(answer["results"]?.array?.first?.object)
      #expect(result["unconfirmedTruncated"] == true)
      let first = result["purchases"]?.array?.first?.object
      #expect(first?["transactionId"] == .string(customer.transactionID(0)) && first?["confirmed"] == true)
      #expect(result["counts"]?.object?["purchases"] == .integer(Int64(IDResolution.mostClaims + 1)))
      // A page is short, and the next one goes on where it ended.
      let (_, page) = try await service.get(path, token: service.token)
      #expect(page.encoded().count < 1 << 20)
      let purchases = try #require(page["results"]?.array?.first?.object?["purchases"]?.array)
      #expect((100..<1_000).contains(purchases.count))
      let next = try #require(page["next"]?.string)
      let (_, following) = try await service.get("\(path)?after=\(next)", token: service.token)
      let others = try #require(following["results"]?.array?.first?.object?["purchases"]?.array)
      #expect(!others.isEmpty && Set(others).isDisjoint(with: purchases))
    }
  }
}
