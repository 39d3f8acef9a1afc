@Suite struct `Consumption requests` {
  @Test func `are not answered unless somebody decided so, and that is written down`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.request()
    try await bench.request()
    #expect(try await bench.answers().round() == 1)
    let found = try await bench.only()
    #expect(found.state == .declined && found.reason == "the app's policy is ignore")
    #expect(found.customerReason == "UNINTENDED_PURCHASE" && found.settledAt == ConsumptionBench.start)
    #expect(bench.told.isEmpty && bench.asked.isEmpty)
    #expect(try await bench.answers().round() == 0)
    await bench.pool.close()
  }

  @Test func `are answered with the fixed answer once`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    try await bench.request()
    try await bench.answers().round()
    try await bench.answers().round()
    let found = try await bench.only()
    #expect(found.state == .answered && found.answer == ConsumptionBench.answer)
    #expect(bench.told == [ConsumptionBench.answer])
    let text = String(decoding: bench.metrics.prometheusText(), as: UTF8.self)
    #expect(text.contains("switchyard_consumption_requests_total{outcome=\"answered\"} 1"))
    await bench.pool.close()
  }

  @Test func `are put to the back end, with an id that is the same each time and the token it gave us`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.ask(url: "https://back.example.com/used?key=1"))
    try await bench.pool.read { [app = bench.app, keys = bench.keys] session throws(DatabaseError) in
      try CredentialTable.put(
        Array("s3cret-token".utf8), kind: .callbackToken, name: "consumption", issuer: "", of: app, sealedWith: keys,
        at: ConsumptionBench.start, in: session)
    }
    try await bench.request()
    try await bench.answers().round()
    #expect(try await bench.only().reason == "the back end gives no answer: couldNotConnect")
    bench.backEnd(503)
    bench.clock.advance(by: .minutes(1))
    try await bench.answers().round()
    bench.backEnd(200, "{\"customerConsented\":true}")
    bench.clock.advance(by: .minutes(1))
    try await bench.answers().round()
    #expect(try await bench.only().reason?.contains("deliveryStatus is missing") == true)
    #expect(bench.told.isEmpty)
    bench.backEnd(200, String(decoding: ConsumptionBench.answer.encoded(), as: UTF8.self))
    bench.clock.advance(by: .minutes(1))
    try await bench.answers().round()
    #expect(try await bench.only().state == .answered)
    #expect(bench.told == [ConsumptionBench.answer])
    let requests = bench.asked
    #expect(requests.count == 4)
    func header(_ name: String) -> Set<String?> {
      Set(requests.map { $0.headers.first { $0.name == name }?.value })
    }
    #expect(header("webhook-id").count == 1 && header("Authorization") == ["Bearer s3cret-token"])
    let body = try #require(try JSONReader.read(requests[0].body).object)
    #expect(body["transactionId"] == "2000000000000001" && body["bundleId"] == .string(ConsumptionBench.app))
    #expect(body["deadline"] == .integer((ConsumptionBench.start + .hours(12)).sinceEpoch))
    #expect(!bench.log.records.contains { "\($0)".contains("s3cret") || "\($0)".contains("key=1") })
    await bench.pool.close()
  }

  @Test(arguments: [
    (204, "", "the back end declines"), (200, "{\"decline\":\"chargeback\"}", "the back end declines: chargeback"),
    (200, "{\"customerConsented\":false}", "the customer did not consent"),
  ])
  func `are declined when the back end or the customer does`(status: Int, body: String, reason: String) async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.ask(url: "https://back.example.com/used"))
    bench.backEnd(status, body)
    try await bench.request()
    try await bench.answers().round()
    let found = try await bench.only()
    #expect(found.state == .declined && found.reason == reason)
    #expect(bench.told.isEmpty)
    await bench.pool.close()
  }

  @Test func `end after twelve hours, and not before`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.ask(url: "https://back.example.com/used"))
    try await bench.request()
    try await bench.work(until: .minutes(705))
    #expect(try await bench.only().state == .waiting)
    try await bench.work(until: .hours(13))
    let found = try await bench.only()
    #expect(found.state == .expired && found.settledAt == ConsumptionBench.start + .hours(12))
    #expect(found.reason == "too late; last: the back end gives no answer: couldNotConnect")
    #expect(bench.log.records.contains { $0.level == .error })
    await bench.pool.close()
  }

  @Test func `tell the same after a process was killed, whatever the back end says then`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.ask(url: "https://back.example.com/used"))
    try await bench.request()
    bench.backEnd(200, String(decoding: ConsumptionBench.answer.encoded(), as: UTF8.self))
    // Told, and killed before the note: all that is left is the lease and what was kept.
    bench.apple(.later("no answer"))
    try await bench.answers().round()
    try await bench.pool.read { session throws(DatabaseError) in
      _ = try session.execute(
        "UPDATE consumption_requests SET owner = \([UInt8](repeating: 7, count: 16)), due_at = due_at + 300000")
    }
    bench.backEnd(204)
    bench.apple(.taken)
    bench.clock.advance(by: .minutes(1))
    #expect(try await bench.answers().round() == 0, "leased by whoever is gone")
    bench.clock.advance(by: .minutes(6))
    #expect(try await bench.answers().round() == 1)
    #expect(try await bench.only().state == .answered)
    #expect(bench.told == [ConsumptionBench.answer, ConsumptionBench.answer] && bench.asked.count == 1)
    await bench.pool.close()
  }

  @Test func `are worked on by one process, however many there are`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    for number in 0..<20 { try await bench.request("20000000000001\(10 + number)") }
    let answers = (0..<4).map { _ in bench.answers() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for one in answers { group.addTask { while try await one.round() > 0 {} } }
      try await group.waitForAll()
    }
    #expect(bench.told.count == 20)
    await bench.pool.close()
  }

  @Test func `that Apple refuses are not settled while an earlier report of the same call may have been taken`() {
    var refused = APIError(.refused, .sendConsumptionInformation, "")
    refused.errorCode = 4_000_035
    let settled = ConsumptionReport.Outcome(refused)
    #expect(settled == .refused("\(refused); \(refused.nextStep)"))
    refused.mayHaveActed = true
    let open = ConsumptionReport.Outcome(refused)
    #expect(open == .later("\(refused); \(refused.nextStep)"))
  }

  @Test func `that Apple refuses are settled, with its reason`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    bench.apple(.refused("4040010"))
    try await bench.request()
    try await bench.answers().round()
    let found = try await bench.only()
    #expect(found.state == .refused && found.reason == "4040010")
    await bench.pool.close()
  }

  @Test func `of V1 have their twelve hours from when they came`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    try await bench.request(filed: "2000000000000001", dated: ConsumptionBench.start - .days(3))
    let found = try await bench.only()
    #expect(found.askedAt == ConsumptionBench.start && found.deadline == ConsumptionBench.start + .hours(12))
    await bench.pool.close()
  }

  @Test(arguments: [
    ConsumptionPolicy.fixed(ConsumptionBench.answer), .ask(url: "https://back.example.com/used"),
  ])
  func `of V1 are told to nobody, are one for each purchase, and hold up nothing that Apple signed`(
    policy: ConsumptionPolicy
  ) async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(policy)
    bench.backEnd(200, String(decoding: ConsumptionBench.answer.encoded(), as: UTF8.self))
    // Anybody with the shared secret can make these, about anybody's purchase.
    for body in ["first", "second", "third"] { try await bench.request("2000000000000001", filed: "1", body: body) }
    for number in 0..<20 { try await bench.request("20000000000002\(10 + number)", filed: "1") }
    try await bench.request("2000000000000009")
    #expect(try await bench.answers().round() == 1, "the signed one alone")
    #expect(bench.told == [ConsumptionBench.answer])
    #expect(bench.asked.count == (policy == .fixed(ConsumptionBench.answer) ? 0 : 1))
    let (claimed, unnamed) = try await bench.pool.read { session throws(DatabaseError) in
      (
        try ConsumptionTable.newest(state: .claimed, limit: 100, in: session),
        try ConsumptionTable.newest(state: .unnamed, limit: 100, in: session)
      )
    }
    #expect(claimed.count == 21)
    #expect(unnamed.isEmpty)
    #expect(claimed.filter { $0.transactionID == "2000000000000001" }.count == 1)
    #expect(claimed.allSatisfy { $0.reason?.contains("switchyard consumption answer") == true })
    let counts = try await bench.pool.read { session throws(DatabaseError) in try ConsumptionTable.counts(in: session) }
    #expect(counts == [.claimed: 21, .answered: 1])
    await bench.pool.close()
  }

  @Test func `of V1 can be taken by an operator, and are not answered by policy if he is cut off`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    try await bench.request(filed: "1")
    let found = try await bench.only()
    let start = ConsumptionBench.start
    let leased = try await bench.pool.transaction { session throws(DatabaseError) in
      try ConsumptionTable.lease(
        found, until: start + .minutes(5), owner: [UInt8](repeating: 3, count: 16), at: start, in: session)
    }
    #expect(leased != nil)
    bench.clock.advance(by: .minutes(6))
    try await bench.answers().round()
    #expect(try await bench.only().state == .claimed && bench.told.isEmpty)
    await bench.pool.close()
  }

  /// The command says that the service goes on with it.
  @Test func `of V1 that an operator answered are told again until Apple has the answer`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.ask(url: "https://back.example.com/used"))
    try await bench.request(filed: "1")
    let (found, start) = (try await bench.only(), ConsumptionBench.start)
    try await bench.pool.transaction { session throws(DatabaseError) in
      let leased = try ConsumptionTable.lease(
        found, until: start + .minutes(5), owner: [UInt8](repeating: 3, count: 16), at: start, in: session)
      guard let leased else { throw DatabaseError(.column, "not leased") }
      try ConsumptionTable.keep(ConsumptionBench.answer, for: leased, in: session)
      try ConsumptionTable.postpone(leased, until: start, because: "Apple was down", in: session)
    }
    try await bench.answers().round()
    #expect(bench.told == [ConsumptionBench.answer] && bench.asked.isEmpty)
    #expect(try await bench.only().state == .answered)
    await bench.pool.close()
  }

  @Test func `of V1 are opened again after their twelve hours, never more than so many, none under ignore`()
    async throws
  {
    let bench = try await ConsumptionBench()
    try await bench.request(filed: "1", body: "ignored")
    #expect(try await bench.all().isEmpty)
    try await bench.decide(.fixed(ConsumptionBench.answer))
    try await bench.request(filed: "1", body: "first")
    try await bench.pool.read { session throws(DatabaseError) in
      _ = try session.execute("UPDATE consumption_requests SET asked_at = 1, due_at = 1, deadline = 2, attempts = 7")
    }
    try await bench.request(filed: "1", body: "a year later")
    let reopened = try await bench.only()
    #expect(reopened.askedAt == ConsumptionBench.start && reopened.attempts == 0)
    #expect(reopened.deadline == ConsumptionBench.start + .hours(12))
    let most = ConsumptionTable.mostClaimed
    try await bench.pool.read { [app = bench.app] session throws(DatabaseError) in
      for number in 1..<most {
        _ = try session.execute(
          """
          INSERT INTO consumption_requests (app, environment, id, transaction_id, asked_at, deadline, message, state, due_at)
          VALUES (\(app.id.number), 2, \("v1:\(number)"), \("\(number)"), \(ConsumptionBench.start),
            \(ConsumptionBench.start + .hours(12)), \([UInt8](repeating: 1, count: 32)), 6, \(ConsumptionBench.start))
          """)
      }
    }
    try await bench.request("2000000000000777", filed: "1")
    try await bench.request("2000000000000888")
    try await bench.request("2000000000000999", filed: "1", isFromApple: true)
    let found = try await bench.pool.read { session throws(DatabaseError) in
      (
        try ConsumptionTable.find("2000000000000777", in: session).count,
        try ConsumptionTable.find("2000000000000888", in: session).count,
        try ConsumptionTable.find("2000000000000999", in: session).count
      )
    }
    #expect(found == (0, 1, 1), "what Apple signed or sent has room")
    await bench.pool.close()
  }

  @Test func `of V1 that name no purchase are left to people, each of them`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    for body in ["first", "second", "second"] {
      try await bench.request(nil, filed: "2000000000000009", body: body)
    }
    #expect(try await bench.answers().round() == 0)
    let found = try await bench.all()
    #expect(found.map(\.state) == [.unnamed, .unnamed])
    #expect(found.allSatisfy { $0.transactionID == nil && $0.originalTransactionID == nil })
    #expect(found.allSatisfy { $0.reason?.contains("switchyard api consumption") == true })
    #expect(bench.told.isEmpty && bench.asked.isEmpty)
    await bench.pool.close()
  }

  @Test func `are tried for the last time before their end, not at it`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.ask(url: "https://back.example.com/used"))
    try await bench.request()
    try await bench.work(until: .minutes(690))
    bench.clock.advance(by: .minutes(10))
    #expect(try await bench.answers().round() == 1, "at 11:55; the next pause would be 15 minutes")
    bench.backEnd(200, String(decoding: ConsumptionBench.answer.encoded(), as: UTF8.self))
    bench.clock.advance(by: .minutes(4))
    #expect(try await bench.answers().round() == 1)
    #expect(try await bench.only().state == .answered)
    await bench.pool.close()
  }

  @Test func `that come too late are nobody's work and no error, and are forgotten when Apple has forgotten them`()
    async throws
  {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    let start = ConsumptionBench.start
    try await bench.request("1", dated: start - .days(181))
    try await bench.request("2", dated: start - .hours(12))
    try await bench.request("3", dated: start - .hours(11))
    let states = try await bench.all().map(\.state)
    #expect(states == [.waiting, .expired, .expired])
    let waiting = try await bench.pool.read { session throws(DatabaseError) in
      try ConsumptionTable.waiting(in: session)
    }
    #expect(waiting == 1)
    #expect(try await bench.answers().round() == 1)
    #expect(bench.told.count == 1 && !bench.log.records.contains { $0.level == .error })
    func purge(askedBefore instant: Timestamp) async throws -> Int {
      try await bench.pool.transaction { session throws(DatabaseError) in
        try ConsumptionTable.purge(askedBefore: instant, limit: 10, in: session)
      }
    }
    try await bench.request("4", dated: start - .minutes(1))
    #expect(try await purge(askedBefore: start - .days(180)) == 1)
    #expect(try await purge(askedBefore: start + .days(1)) == 2)
    #expect(try await bench.only().transactionID == "4", "what waits is never forgotten")
    await bench.pool.close()
  }
}
