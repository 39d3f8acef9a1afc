@Suite struct `The times of answers` {
  private static let now = Timestamp(1_796_000_000_000)

  @Test func `are counted by side in steps of five minutes, and read as p50 and p99`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.now, in: session)
      let app = try AppTable.add(bundleID: "com.example.app", appAppleID: nil, at: Self.now, in: session)
      let scope = AppScope(app: app.id, environment: .sandbox)
      func add(
        _ side: ResponseTimeStatistics.Side, _ time: Duration?, _ count: Int, at date: Timestamp
      ) throws(DatabaseError) {
        try AnswerTimeTable.add([.init(side, in: scope, took: time, at: date): count], in: session)
      }
      func read() throws(DatabaseError) -> [ResponseTimeStatistics.Side: ResponseTimeStatistics] {
        try AnswerTimeTable.read(scope, since: Self.now - .hours(24), in: session)
      }
      #expect(try read().isEmpty)
      try add(.apple, .milliseconds(120), 49, at: Self.now)
      try add(.apple, .milliseconds(130), 49, at: Self.now - .hours(2))
      try add(.apple, .milliseconds(650), 1, at: Self.now)
      try add(.apple, .seconds(90), 1, at: Self.now)
      try add(.apple, nil, 3, at: Self.now)
      try add(.ours, nil, 2, at: Self.now)
      // Of the day before, and of another scope.
      try add(.apple, .seconds(1), 1_000, at: Self.now - .hours(24) - .minutes(10))
      let other = AppScope(app: app.id, environment: .production)
      try AnswerTimeTable.add([.init(.apple, in: other, took: .zero, at: Self.now): 7], in: session)
      let found = try read()
      #expect(found[.apple]?.answers == 100 && found[.apple]?.errors == 3)
      #expect(found[.apple]?.milliseconds(within: 0.5) == 150 && found[.apple]?.milliseconds(within: 0.99) == 700)
      #expect(found[.apple]?.milliseconds(within: 1) == 60_000)
      #expect(found[.apple]?.millisecondsExceeded(beyond: 0.5) == 100)
      #expect(found[.ours]?.answers == 0 && found[.ours]?.errors == 2)
      #expect(found[.ours]?.milliseconds(within: 0.5) == nil)
      #expect(try AnswerTimeTable.purge(before: Self.now - .hours(24) - .minutes(5), limit: 100, in: session) == 1)
      #expect(try AnswerTimeTable.purge(before: Self.now + .hours(1), limit: 100, in: session) == 7)
    }
    await connection.close()
  }
}
