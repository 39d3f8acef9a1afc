/// Days of a small app on which Apple sent nothing: they have no row of completeness.
@Suite struct `A day without notifications` {
  private static let now = Operated.now
  private static let today = Timestamp(now.sinceEpoch / 86_400_000 * 86_400_000)
  /// In the hour before the last two days, and now.
  private static let daily: [Timestamp] = [
    today - .days(2) - .hours(1), today - .days(1) - .hours(1), now - .hours(1),
  ]

  private let here: Operated
  private let scope: AppScope

  init() async throws {
    here = try await Operated()
    scope = AppScope(app: here.app.id, environment: .sandbox)
  }

  /// What is found of the two days before today.
  private func evidence() async throws -> RolloutEvidence {
    try await AdvanceRollout(Operated.bundleID, in: .sandbox).plan(at: Self.now, on: here.connection).evidence
  }

  private func measured() async throws -> Int { try await evidence().measuredDays }

  private func finish(until end: Timestamp) async throws {
    try await here.connection.transaction { [scope] session throws(DatabaseError) in
      try ReconciliationTable.finish(scope, from: nil, until: end, in: session)
    }
  }

  private func put(
    _ completeness: Completeness, _ measure: Completeness.Measure, of day: Timestamp,
    at date: Timestamp = Self.now
  ) async throws {
    try await here.connection.transaction { [scope] session throws(DatabaseError) in
      try CompletenessTable.put([day: completeness], measure, of: scope, at: date, in: session)
    }
  }

  /// Notifications that came by themselves.
  private func hear(_ title: String, at dates: [Timestamp]) async throws {
    let (app, generation) = (here.app.id.number, title.hasPrefix("V1 ") ? 1 : 2)
    for date in dates {
      try await here.execute(
        """
        INSERT INTO inbox (digest, month, received_at, arrival, kind, app, environment, title, size)
        VALUES (UNHEX(SHA2(\(date), 256)), 1, \(date), 'arrival', \(InboxMessage.Kind.notification.rawValue), \(app), 2,
          \(title), 1)
        """)
      try await here.execute(
        """
        INSERT INTO heard (app, environment, generation, heard_at) VALUES (\(app), 2, \(generation), \(date))
        ON DUPLICATE KEY UPDATE heard_at = GREATEST(heard_at, VALUES(heard_at))
        """)
    }
  }

  @Test func `is measured once everything that Apple sent up to an hour past its end was compared`() async throws {
    try await hear("TEST", at: Self.daily)
    #expect(try await measured() == 0)
    try await put(Completeness(expected: 3, arrived: 2, recovered: 1), .notifications, of: Self.today - .days(2))
    #expect(try await measured() == 1)
    let early: [Timestamp] = [Self.today - .hours(1), Self.today, Self.today + .minutes(59)]
    for end in early {
      try await finish(until: end)
      #expect(try await measured() == 1, "Apple may not tell of all of yesterday at \(end.iso8601)")
    }
    try await finish(until: Self.today + .hours(1))
    #expect(try await measured() == 2)
    #expect(try await evidence().incompleteDays == 0)
  }

  @Test func `is measured where nothing came for days but tests that were asked for`() async throws {
    try await hear("TEST", at: Self.daily)
    try await finish(until: Self.now)
    #expect(try await measured() == 2)
  }

  @Test func `is not measured where no URL works, and nothing was ever heard`() async throws {
    try await finish(until: Self.now)
    #expect(try await measured() == 0)
  }

  @Test func `is not measured where Apple posts V1`() async throws {
    try await hear("V1 DID_RENEW", at: Self.daily)
    try await finish(until: Self.now)
    #expect(try await measured() == 0)
  }

  @Test func `is not measured while a test is lost`() async throws {
    try await hear("DID_RENEW", at: Self.daily)
    try await finish(until: Self.now)
    try await here.execute(
      """
      INSERT INTO heartbeats (app, environment, asked_at, due_by, token, lost_since, failure)
      VALUES (\(here.app.id.number), 2, 1, 1, 'token', \(Self.now - .hours(2)), 'TIMED_OUT')
      """)
    #expect(try await measured() == 0)
  }

  @Test func `is not measured where V2 came since an hour alone, as of an app that was in legacy`() async throws {
    try await hear("TEST", at: [Self.now - .hours(1)])
    try await finish(until: Self.now)
    #expect(try await measured() == 0)
  }

  @Test func `is not measured where nothing came any more`() async throws {
    try await hear("TEST", at: Array(Self.daily.dropLast(2)))
    try await finish(until: Self.now)
    #expect(try await measured() == 0)
  }

  @Test func `lacks something where a renewal was expected on it of which nothing is known`() async throws {
    try await hear("TEST", at: Self.daily)
    try await finish(until: Self.now)
    try await put(Completeness(expected: 3, arrived: 3), .notifications, of: Self.today - .days(2))
    try await put(Completeness(expected: 2, arrived: 1), .renewals, of: Self.today - .days(1))
    #expect(try await evidence().incompleteDays == 1)
    try await put(Completeness(expected: 2, arrived: 1, recovered: 1), .renewals, of: Self.today - .days(1))
    #expect(try await evidence().incompleteDays == 0)
    #expect(try await measured() == 2)
    // Where Apple's history tells of the day, it is what counts.
    try await put(Completeness(expected: 2, arrived: 1), .renewals, of: Self.today - .days(2))
    #expect(try await evidence().incompleteDays == 0)
  }

  @Test func `is not measured by what was written while it went on`() async throws {
    let yesterday = Self.today - .days(1)
    try await put(Completeness(expected: 3, arrived: 3), .notifications, of: yesterday, at: Self.today - .seconds(1))
    #expect(try await measured() == 0)
    try await put(Completeness(expected: 4, arrived: 4), .notifications, of: yesterday, at: Self.today)
    #expect(try await measured() == 1)
    // What is missing is missing, however early it was seen.
    try await put(Completeness(expected: 4, arrived: 3), .notifications, of: yesterday, at: Self.today - .seconds(1))
    #expect(try await evidence().incompleteDays == 1)
  }

  @Test func `counts no longer when recording began again after it`() async throws {
    try await hear("TEST", at: Self.daily)
    try await finish(until: Self.now)
    #expect(try await measured() == 2)
    try await here.execute("UPDATE flags SET recording_since = \(Self.today - .hours(30))")
    #expect(try await measured() == 1)
    // Nor does one before which nothing showed yet that V2 notifications come here again.
    try await here.execute("UPDATE flags SET recording_since = \(Self.today - .days(1) - .minutes(1))")
    #expect(try await measured() == 0)
  }
}
