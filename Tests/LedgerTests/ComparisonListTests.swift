@Suite struct `The list of comparisons` {
  private static let now = Timestamp(1_796_000_000_000)

  @Test func `has the word of the table for a history that is not known`() {
    #expect(ComparisonTable.incomplete == DifferenceTable.Cause.incomplete.rawValue)
  }

  @Test func `finds a cause and an impact behind any number of others`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.now, in: session)
      let app = try AppTable.add(bundleID: "com.example.app", appAppleID: nil, at: Self.now, in: session)
      let scope = AppScope(app: app.id, environment: .sandbox)
      func add(_ number: UInt8, _ cause: String, impact: [UInt8]?) throws(DatabaseError) {
        let name = [UInt8](repeating: number, count: 16)
        _ = try ComparisonTable.add(
          .init(
            cause: cause, counts: impact != nil,
            differences: Array(#"[{"path":"status","cause":"timing"},{"path":"status","cause":"\#(cause)"}]"#.utf8),
            impact: impact), of: .init(scope: scope, window: Self.now, customer: name, receipt: name), epoch: 1,
          at: Self.now + .seconds(Int64(number)), settlingAt: nil, in: session)
      }
      try add(0, "ourDefect", impact: nil)
      try add(1, "unknown", impact: Array("{}".utf8))
      for number in UInt8(2)..<20 { try add(number, "legacyQuirk", impact: nil) }
      func causes(_ cause: String? = nil, affecting: Bool = false) throws(DatabaseError) -> [String] {
        try ComparisonTable.list(
          of: scope, differing: true, cause: cause, affecting: affecting, limit: 3, in: session
        ).map(\.judgement.cause)
      }
      #expect(try causes() == ["legacyQuirk", "legacyQuirk", "legacyQuirk"])
      #expect(try causes("ourDefect") == ["ourDefect"])
      // Also one that is not the gravest of its comparison.
      #expect(try causes("timing").count == 3)
      #expect(try causes("Defect") == [])
      #expect(try causes(affecting: true) == ["unknown"])
      #expect(try causes("ourDefect", affecting: true) == [])
    }
    await connection.close()
  }

  @Test func `is of those alone whose answers are kept, with the customer by whom each counts`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.now, in: session)
      let app = try AppTable.add(bundleID: "com.example.app", appAppleID: nil, at: Self.now, in: session)
      let scope = AppScope(app: app.id, environment: .sandbox)
      for number in UInt8(1)...3 {
        let name = [UInt8](repeating: number, count: 16)
        let id = try ComparisonTable.add(
          .init(cause: ComparisonTable.equal, counts: false, differences: [], impact: nil),
          of: .init(scope: scope, window: Self.now, customer: name, receipt: name), epoch: 1,
          at: Self.now + .seconds(Int64(number)), settlingAt: nil, in: session)
        if let id, number != 2 {
          try ComparisonTable.keep([number], of: id, until: Self.now + .days(14), in: session)
        }
      }
      func customers(_ limit: Int) throws(DatabaseError) -> [[UInt8]] {
        try ComparisonTable.list(of: scope, differing: false, kept: true, limit: limit, in: session).map(\.customer)
      }
      let (first, third) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 3, count: 16))
      #expect(try customers(2) == [third, first])
      #expect(try customers(1) == [third])
    }
    await connection.close()
  }
}
