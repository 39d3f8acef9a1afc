/// For `scripts/soak limits`: two services use an App Store's limit for minutes, then both are lost.
@Suite(.soak) struct LimitSoak {
  private static let limit = Program.setting("SWITCHYARD_SOAK_LIMIT") ?? 50
  private static let seconds = Program.setting("SWITCHYARD_SOAK_LIMIT_SECONDS") ?? 180

  @Test func `two services use Apple's limit, and lose no customer when they end`() async throws {
    // Customers are looked up while they are posted, and some have bought nothing.
    try await LimitedSite.with(customers: Self.limit * (Self.seconds + 90), limit: Self.limit) { site in
      let services = [try await site.serve(), try await site.serve()]
      try await site.handIn(to: services)
      try await look(site, services)
      let (leased, twice) = try await site.loseServices(services)
      print("soak.limits: \(leased) leased by the killed service, \(twice) of them asked about twice")
    }
  }

  /// Measures how much of the limit is used after the first minute, and how long a caller waits.
  private func look(_ site: LimitedSite, _ services: [RunningProgram]) async throws {
    try await Task.sleep(for: .seconds(60))
    let (before, begun) = (try await calls(site), WallClock.system.now())
    var (waits, free, refusals): ([Int64], [Int64], [String]) = ([], [], [])
    while WallClock.system.now() - begun < .seconds(Int64(Self.seconds - 60)) {
      guard let id = try await lateID(site) else { break }
      let posted = WallClock.system.now()
      #expect(try await site.post(id, to: services[waits.count % 2], wait: 30)["history"] == "done")
      if let asked = site.customer(id).flatMap({ site.apple.historiesBegun[$0]?.first }), asked >= posted {
        waits.append((asked - posted).milliseconds)
        // While Apple accepts no calls, every caller waits.
        let word = try await blockedUntil(site) ?? posted
        if word > posted, word <= asked {
          refusals.append("\((asked - posted).milliseconds) ms, \((asked - word).milliseconds) after Apple's word")
        } else {
          free.append((asked - posted).milliseconds)
        }
      }
      try await Task.sleep(for: .milliseconds(330))
    }
    let (after, took) = (try await calls(site), WallClock.system.now() - begun)
    #expect(try await site.database.count("work WHERE state = 0") > 0, "work was to wait all the time")
    let (answered, refused) = (after.answered - before.answered, after.refused - before.refused)
    let used = Double(answered) / (Double(Self.limit) * Double(took.milliseconds) / 1_000)
    let share = Double(refused) / Double(max(1, answered + refused))
    waits.sort()
    print(
      "soak.limits: \(Self.limit)/s for \(Self.seconds) s, two services: \(Int(used * 1_000) / 10) % used, "
        + "\(Double(Int(share * 10_000)) / 100) % refused; until Apple was asked for \(waits.count) who waited: median "
        + "\(waits.isEmpty ? 0 : waits[waits.count / 2]) ms, longest \(waits.last ?? 0) ms, "
        + "\(free.max() ?? 0) ms where Apple had refused none; else \(refusals)")
    #expect(used >= 0.9)
    #expect(share < 0.01)
    // A slot is two gaps, as each service has half; the rest is the way over HTTP and the ledger.
    #expect(!waits.isEmpty && waits[waits.count / 2] < 2_000 / Int64(Self.limit) + 250, "\(waits)")
  }

  /// A customer late in the queue that no service has looked up yet.
  private func lateID(_ site: LimitedSite) async throws -> String? {
    try await site.database.rows("SELECT subject FROM work WHERE state = 0 AND begun = 0 ORDER BY id DESC LIMIT 1")
      .first?.text("subject")
  }

  /// The end of the pause for history calls that Apple's last refusal named.
  private func blockedUntil(_ site: LimitedSite) async throws -> Timestamp? {
    try await site.database.rows(
      "SELECT MAX(blocked_until) AS blocked FROM budgets WHERE budget LIKE '%/getTransactionHistory/%'"
    ).first?.optionalMilliseconds("blocked")
  }

  /// The calls for histories that Apple answered, and those that it refused.
  private func calls(_ site: LimitedSite) async throws -> (answered: Int, refused: Int) {
    let rule = try #require(try await site.apple.faults(site.http).first { $0["operation"] == "getTransactionHistory" })
    let (matched, struck) = (rule["matched"]?.integer ?? 0, rule["struck"]?.integer ?? 0)
    return (Int(matched - struck), Int(struck))
  }
}
