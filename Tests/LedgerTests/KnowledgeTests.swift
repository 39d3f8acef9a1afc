@testable import Ledger

@Suite struct `What is known of an account` {
  /// Each issue of a magazine is a purchase of its own, and a receipt has them all.
  @Test func `is as many rows as it has ids, however many of them are asked for at once`() async throws {
    let base = try await LedgerFixture()
    let (app, ids) = (base.app, (1...700).map { "\(1_000 + $0)" })
    try await base.pool.read { session throws(DatabaseError) in
      for id in ids {
        _ = try session.execute(
          """
          INSERT INTO customers (app, environment, node, label)
          VALUES (\(app.id.number), \(Environment.sandbox.code), \(CustomerNode.originalTransactionID(id).text), 'o1001')
          """)
      }
      let known = try LedgerStore.knowledge(of: ids, app: app, environment: .sandbox, atMost: ids.count, in: session)
      #expect(known.originalTransactionIDs == ids)
      #expect(throws: DatabaseError.self) {
        try LedgerStore.knowledge(of: ids, app: app, environment: .sandbox, atMost: 100, in: session)
      }
    }
    await base.pool.close()
  }

  /// Anybody with the app's shared secret can claim any number of lines below somebody's id.
  @Test func `is found too large by what is only claimed, after a few rows`() async throws {
    let base = try await LedgerFixture()
    let app = base.app
    try await base.pool.transaction { session throws(DatabaseError) in
      _ = try session.execute(
        """
        INSERT INTO purchases (app, environment, original_transaction_id, line, source, product_id, as_of, facts, message,
          precedence)
        SELECT \(app.id.number), \(Environment.sandbox.code), '1', CONCAT('l', seq), \(Source.notificationV1.rawValue), '', 1,
          '{}', REPEAT('m', 32), REPEAT('p', 24)
        FROM \(SQL.numbers(5_000))
        """)
    }
    let read = try await RowsRead.during(base.pool) { session throws(DatabaseError) in
      let isLarge = Self.isTooLarge { () throws(DatabaseError) in
        _ = try LedgerStore.knowledge(
          of: ["1"], app: app, environment: .sandbox, atMost: 256, countsClaims: true, in: session)
      }
      let isElsewhereToo = Self.isTooLarge { () throws(DatabaseError) in
        _ = try LedgerStore.environments(naming: "1", app: app, atMost: 256, in: session)
      }
      guard isLarge, isElsewhereToo else { throw DatabaseError(.column, "\(isLarge), \(isElsewhereToo)") }
    }
    #expect(read.total < 3_000, "\(read)")
    try await base.pool.read { session throws(DatabaseError) in
      let known = try LedgerStore.knowledge(of: ["1"], app: app, environment: .sandbox, in: session)
      guard known.purchases.isEmpty, known.originalTransactionIDs == ["1"] else {
        throw DatabaseError(.column, "\(known)")
      }
    }
    await base.pool.close()
  }

  private static func isTooLarge(_ body: () throws(DatabaseError) -> Void) -> Bool {
    do throws(DatabaseError) {
      try body()
      return false
    } catch {
      return error.code == .tooLarge
    }
  }
}
