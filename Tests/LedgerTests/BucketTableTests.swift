@Suite struct `A customer's bucket` {
  private static let now = Milliseconds(1_796_000_000_000)

  /// Computed with `printf 'switchyard bucket 1\nSALT\nAPP\nCUSTOMER' | sha256sum`.
  @Test(arguments: [
    ("salt", "com.example.app", "1000000000000001", 9_070), ("salt", "com.example.app", "1000000000000002", 6_648),
    ("salt", "com.example.app", "2", 9_419), ("", "com.example.app", "1000000000000001", 1_132),
    ("salt", "com.example.other", "1000000000000001", 2_663),
  ])
  func `is the documented hash`(salt: String, app: String, customer: String, number: Int) {
    #expect(Bucket(salt: salt, app: app, customer: customer).number == number)
  }

  @Test func `holds each step's percentage within half a point over 100,000 customers`() {
    var counts: [Int: Int] = [:]
    let shares = [100, 500, 2_500, 5_000, 10_000].compactMap { RampShare(hundredths: $0) }
    for customer in 0..<100_000 {
      let bucket = Bucket(salt: "s", app: "com.example.app", customer: "\(2_000_000_000_000_000 + customer)")
      // Whoever is in a share is in every larger one.
      let isIn = shares.map { $0.contains(bucket) }
      if isIn != isIn.sorted(by: { !$0 && $1 }) { Issue.record("\(customer): \(isIn)") }
      for (place, isIn) in isIn.enumerated() where isIn { counts[place, default: 0] += 1 }
    }
    for (place, share) in shares.enumerated() {
      #expect(abs(Double(counts[place] ?? 0) / 1_000 - Double(share.hundredths) / 100) < 0.5, "\(share)")
    }
  }

  @Test func `is kept from the first decision on, and the smaller one stays when customers join`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.now, in: session)
      let app = try AppTable.add(bundleID: "com.example.app", appAppleID: nil, at: Self.now, in: session)
      let scope = Scope(app: app.id, environment: .sandbox)
      func bucket(_ ids: [String], salt: String = "salt") throws(DatabaseError) -> Int? {
        try BucketTable.decide(ids, app: app, in: scope, salt: salt, at: Self.now, session: session)?.number
      }
      #expect(try bucket(["1000000000000001"]) == 9_070)
      #expect(try bucket(["1000000000000002"]) == 6_648)
      // Another salt, as after a change: what was decided stays.
      #expect(try bucket(["1000000000000001"], salt: "other") == 9_070)
      #expect(try bucket(["1000000000000002", "1000000000000001"]) == 6_648)
      #expect(try bucket([]) == nil)
      // A join by Apple's word: nobody's bucket grows.
      for node in ["o1000000000000001", "o1000000000000003"] {
        _ = try session.execute(
          """
          INSERT INTO customers (app, environment, node, label)
          VALUES (\(app.id.number), 2, \(node), 'o1000000000000001')
          """)
      }
      #expect(try bucket(["1000000000000003"]) == 9_070)
      _ = try session.execute(
        """
        INSERT INTO customers (app, environment, node, label)
        VALUES (\(app.id.number), 2, 'o1000000000000002', 'o1000000000000001')
        """)
      #expect(try bucket(["1000000000000003"]) == 6_648)
      #expect(try bucket(["1000000000000001"]) == 6_648)
      let other = Scope(app: app.id, environment: .production)
      let elsewhere = try BucketTable.decide(
        ["1000000000000002"], app: app, in: other, salt: "", at: Self.now, session: session)
      #expect(elsewhere != nil && elsewhere?.number != 6_648)
    }
    await connection.close()
  }

  @Test func `is none that a cohort waits for`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.now, in: session)
      let app = try AppTable.add(bundleID: "com.example.app", appAppleID: nil, at: Self.now, in: session)
      let scope = Scope(app: app.id, environment: .sandbox)
      #expect(try !CohortTable.holds(["1"], in: scope, session))
      try CohortTable.add(
        [.init(.originalTransactionID, "1"), .init(.userID, "kim"), .init(.accountToken, "T-1")], to: scope,
        at: Self.now, in: session)
      for (id, kind, value) in [
        ("2", Attribution.Kind.userID, "kim"), ("3", .appAccountToken, "t-1"), ("4", .userID, "t-1"),
      ] {
        _ = try session.execute(
          """
          INSERT INTO attributions (app, environment, original_transaction_id, kind, line, value, first_as_of, last_as_of,
            message) VALUES (\(app.id.number), 2, \(id), \(kind.rawValue), '', \(value), 1, 1, REPEAT('x', 32))
          """)
      }
      var held: [String] = []
      for id in ["1", "2", "3", "4", "5"] where try CohortTable.holds([id], in: scope, session) { held.append(id) }
      #expect(held == ["1", "2", "3"])
      #expect(try CohortTable.members(of: scope, in: session).count == 3)
      let members = try CohortTable.members(of: scope, in: session)
      #expect(members.map(\.text) == ["customer:1", "user:kim", "token:t-1"])
      try CohortTable.remove([.init(.userID, "1"), .init(.originalTransactionID, "1")], from: scope, in: session)
      #expect(try !CohortTable.holds(["1"], in: scope, session))
      #expect(try CohortTable.holds(["2"], in: scope, session))
      try CohortTable.remove(members, from: scope, in: session)
      #expect(try CohortTable.members(of: scope, in: session).count == 0)
    }
    await connection.close()
  }

  @Test(
    arguments: [
      ("2000000012345678", "customer:2000000012345678"), ("customer:2000000012345678", "customer:2000000012345678"),
      ("user:kim", "user:kim"), ("user:a:b", "user:a:b"),
      ("token:0F5D1A9C-0000-4000-8000-00000000000A", "token:0f5d1a9c-0000-4000-8000-00000000000a"),
      ("", nil), ("kim", nil), ("customer:", nil), ("customer:12a", nil), ("user:", nil), ("token:kim", nil),
      ("token:0F5D1A9C-0000-4000-8000-00000000000", nil), ("customer 1", nil), ("order:1", nil),
    ] as [(String, String?)])
  func `is named by an id, a user id or a token in a cohort`(text: String, member: String?) {
    #expect(CohortTable.Member(text)?.text == member)
  }
}
