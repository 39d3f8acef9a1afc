@testable import Service

@Suite struct `A look-up of a large customer` {
  private static let lists = ["purchases", "events", "accounts"]

  private func append(_ findings: [Findings], to service: RunningService) async throws {
    let ledger = LedgerStore(pool: service.pool)
    let app = try await service.pool.read { session throws(DatabaseError) in try AppTable.all(in: session)[0] }
    let entries = findings.map { findings in
      let message = InboxMessage(kind: .notification, body: .random(count: 16), receivedAt: LargeCustomer.start)
      return LedgerEntry(
        message,
        .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "notification")))
    }
    #expect(try await ledger.append(entries).allSatisfy { $0 == .stored })
  }

  private func path(_ id: String, _ query: String = "", extent: String = "customers") -> String {
    "/v1/apps/\(RunningService.app)/\(extent)/\(id)?provenance=false\(query)"
  }

  @Test(arguments: LargeCustomer.Shape.allCases)
  func `comes in pages that together are all of it, and news between them costs nothing that is there`(
    shape: LargeCustomer.Shape
  ) async throws {
    try await RunningService.with { service in
      let customer = LargeCustomer(shape, of: RunningService.app)
      for start in stride(from: 0, to: 2_300, by: 230) {
        try await append([customer.findings(start..<start + 230)], to: service)
      }
      for extent in ["customers", "purchases"] {
        var ids: [String: [String]] = [:]
        var (pages, cursor, known): (Int, String?, Int) = (0, nil, 2_300 + (extent == "purchases" ? 1 : 0))
        repeat {
          let id = shape == .linked ? customer.appTransactionID : customer.transactionID(3)
          let (status, answer) = try await service.get(
            path(id, cursor.map { "&after=\($0)" } ?? "", extent: extent), token: service.token)
          #expect(status == 200)
          let results = try #require(answer["results"]?.array)
          let result = try #require(results.first?.object)
          #expect(results.count == 1 && result["environment"] == "Sandbox")
          #expect(result["purchases"]?.array?.count == (pages < 2 ? 1_000 : known - 2_000))
          for name in Self.lists {
            ids[name, default: []] += (result[name]?.array ?? []).map {
              "\($0.object?["transactionId"]?.string ?? "") \($0.object?["originalTransactionId"]?.string ?? "") "
                + "\($0.object?["line"]?.string ?? "")"
            }
          }
          // Of all purchases, on every page.
          #expect(result["counts"]?.object?["purchases"] == .integer(Int64(known)))
          let subscriptions = result["subscriptions"]?.array
          #expect(subscriptions?.count == (shape == .linked ? 0 : 1))
          if shape == .periods {
            let end = customer.date(known - 1 + (known > 2_300 ? 2_700 : 0)) + .minutes(10)
            #expect(subscriptions?.first?.object?["expiresDate"] == .integer(end.sinceEpoch))
          }
          cursor = answer["next"]?.string
          pages += 1
          if pages == 1, extent == "customers" {
            // Bought after everything: it comes on the last page.
            try await append([customer.findings(5_000)], to: service)
            known += 1
          }
        } while cursor != nil && pages < 10
        #expect(pages == 3)
        for name in Self.lists {
          let told = ids[name] ?? []
          #expect(told.count == 2_301 && Set(told).count == told.count, "\(name) of \(extent)")
        }
      }
    }
  }

  @Test func `of ordinary size is the same with a limit that it does not reach, and without`() async throws {
    try await RunningService.with { service in
      let customer = LargeCustomer(.periods, of: RunningService.app)
      try await append([customer.findings(0..<4)], to: service)
      let whole = try await service.get(path(customer.transactionID(0)), token: service.token)
      let limited = try await service.get(path(customer.transactionID(0), "&limit=4"), token: service.token)
      #expect(whole.status == 200 && limited.body == whole.body)
      #expect(whole.body["next"] == nil && whole.body.members.map(\.key) == ["app", "id", "at", "results"])
      #expect(
        whole.body["results"]?.array?.first?.object?.members.map(\.key) == [
          "environment", "customers", "purchases", "subscriptions", "appTransactions", "events", "accounts",
          "transfers",
        ])
      // Cut, it says so, and goes on where it was cut.
      let first = try await service.get(path(customer.transactionID(0), "&limit=3"), token: service.token)
      let next = try #require(first.body["next"]?.string)
      let rest = try await service.get(path(customer.transactionID(0), "&limit=3&after=\(next)"), token: service.token)
      #expect(first.body["results"]?.array?.first?.object?["purchases"]?.array?.count == 3)
      #expect(rest.body["results"]?.array?.first?.object?["purchases"]?.array?.count == 1)
      #expect(rest.body["next"] == nil)
    }
  }

  @Test(arguments: [
    ("&limit=0", "invalidLimit"), ("&limit=1001", "invalidLimit"), ("&limit=ten", "invalidLimit"),
    ("&after=x", "invalidCursor"), ("&after=", "invalidCursor"), ("&after=AAAAAAAA", "invalidCursor"),
  ])
  func `refuses a limit or a cursor that is none`(query: String, code: String) async throws {
    try await RunningService.with { service in
      try await append([LargeCustomer(.linked, of: RunningService.app).findings(0)], to: service)
      let (status, answer) = try await service.get(path("21000000", query), token: service.token)
      #expect(status == 400 && answer["error"]?.object?["code"] == .string(code))
    }
  }

  @Test func `is refused when an account is shared by more than can be told of`() async throws {
    try await RunningService.with { service in
      let token = LargeCustomer(.linked, of: RunningService.app).accountToken
      try await append([LargeCustomer(.linked, of: RunningService.app).findings(0)], to: service)
      _ = try await service.pool.read { session throws(DatabaseError) in
        try session.execute(
          """
          INSERT INTO aliases (app, environment, alias, kind, original_transaction_id, line, first_as_of, last_as_of)
          SELECT app, environment, alias, kind, CONCAT('x', seq), '', 1, 1 FROM aliases
          JOIN \(SQL.numbers(50_000)) ON 1 = 1 WHERE alias = \(token)
          """)
      }
      let (status, answer) = try await service.get(path(token), token: service.token)
      #expect(status == 422 && answer["error"]?.object?["code"] == "tooManyPurchases")
      #expect(answer["error"]?.object?["next"]?.string?.contains("originalTransactionId") == true)
    }
  }

  @Test func `that waits for Apple tells the first page, and how to go on`() async throws {
    try await RunningService.with { service in
      let customer = LargeCustomer(.linked, of: RunningService.app)
      for start in stride(from: 0, to: 1_200, by: 200) {
        try await append([customer.findings(start..<start + 200)], to: service)
      }
      let id = customer.transactionID(0)
      let body: JSONObject = ["transactionId": .string(id)]
      let (status, answer) = try await service.post(
        "/v1/evidence?environment=Sandbox&wait=1", body.encoded(), token: service.token)
      #expect(status == 200)
      let result = try #require(answer["results"]?.array?.first?.object)
      #expect(result["purchases"]?.array?.count == 1_000 && result["id"] == .string(id))
      let next = try #require(result["next"]?.string)
      let (_, rest) = try await service.get(path(id, "&after=\(next)"), token: service.token)
      #expect(rest["results"]?.array?.first?.object?["purchases"]?.array?.count == 200)
    }
  }
}
