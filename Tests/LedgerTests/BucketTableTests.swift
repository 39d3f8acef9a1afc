@Suite struct `A customer's bucket` {
  private static let now = Timestamp(1_796_000_000_000)

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
    let shares = [100, 500, 2_500, 5_000, 10_000].compactMap { RampPercentage(hundredths: $0) }
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
      let scope = AppScope(app: app.id, environment: .sandbox)
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
      let other = AppScope(app: app.id, environment: .production)
      let elsewhere = try BucketTable.decide(
        ["1000000000000002"], app: app, in: other, salt: "", at: Self.now, session: session)
      #expect(elsewhere != nil && elsewhere?.number != 6_648)
    }
    await connection.close()
  }

  @Test func `is 0 for a cohort, by an id, a user id or a token, and the hash's again afterwards`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.now, in: session)
      let app = try AppTable.add(bundleID: "com.example.app", appAppleID: nil, at: Self.now, in: session)
      let scope = AppScope(app: app.id, environment: .sandbox)
      let token = "0f5d1a9c-0000-4000-8000-00000000000a"
      _ = try session.execute(
        """
        INSERT INTO user_ids (app, environment, user_id, original_transaction_id) VALUES (\(app.id.number), 2, 'kim', '2')
        """)
      _ = try session.execute(
        """
        INSERT INTO aliases (app, environment, alias, kind, original_transaction_id, line, first_as_of, last_as_of)
        VALUES (\(app.id.number), 2, \(token), 4, '3', '', 1, 1)
        """)
      for node in ["o1", "o5"] {
        _ = try session.execute(
          "INSERT INTO customers (app, environment, node, label) VALUES (\(app.id.number), 2, \(node), 'o1')")
      }
      func bucket(_ id: String) throws(DatabaseError) -> Int? {
        try BucketTable.decide([id], app: app, in: scope, salt: "salt", at: Self.now, session: session)?.number
      }
      let hashed = try ["1", "2", "3", "4", "5"].map { id throws(DatabaseError) in try bucket(id) }
      var ids: [String] = []
      for text in ["customer:1", "user:kim", "token:\(token.uppercased())", "user:nobody"] {
        guard let member = CohortMember(text) else { continue }
        ids += try BucketTable.ids(of: member, in: scope, session)
      }
      #expect(ids.sorted() == ["1", "2", "3", "5"])
      try BucketTable.choose(ids, in: scope, at: Self.now, session)
      #expect(try BucketTable.cohort(of: scope, in: session) == ["1", "2", "3", "5"])
      let chosen = try ["1", "2", "3", "4", "5"].map { id throws(DatabaseError) in try bucket(id) }
      #expect(chosen == [0, 0, 0, hashed[3], 0])
      try BucketTable.release(ids, in: scope, session)
      #expect(try ["1", "2", "3", "4", "5"].map { id throws(DatabaseError) in try bucket(id) } == hashed)
    }
    await connection.close()
  }

  @Test(
    arguments: [
      ("2000000012345678", "customer:2000000012345678"), ("customer:2000000012345678", "customer:2000000012345678"),
      ("user:kim", "user:kim"), ("user:a:b", "user:a:b"),
      ("token:0F5D1A9C-0000-4000-8000-00000000000A", "token:0F5D1A9C-0000-4000-8000-00000000000A"),
      ("", nil), ("kim", nil), ("customer:", nil), ("customer:12a", nil), ("user:", nil), ("token:kim", nil),
      ("token:0F5D1A9C-0000-4000-8000-00000000000", nil), ("customer 1", nil), ("order:1", nil),
    ] as [(String, String?)])
  func `is named by an id, a user id or a token in a cohort`(text: String, member: String?) {
    #expect(CohortMember(text)?.text == member)
  }
}
