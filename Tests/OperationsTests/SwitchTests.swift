@Suite struct `An operation on the switch` {
  private let now = Operated.now
  private let kim = Operated.kim

  private func flag(_ here: Operated) async throws -> StageRecord? {
    try await here.connection.read { session throws(DatabaseError) in
      try StageTable.all(in: session)[AppScope(app: here.app.id, environment: .sandbox)]
    }
  }

  @Test func `sets a share, changes it, and keeps the salt for good`() async throws {
    let here = try await Operated()
    let five = SetStage(.ramp, at: RampPercentage(hundredths: 500), of: Operated.bundleID, in: .sandbox, forced: true)
    try await here.expect("rollout.set com.example.app Sandbox: record to ramp 5 %, forced: ticket 4") {
      try await five.plan(at: now, on: here.connection)
    } apply: {
      try await five.apply($0, by: kim, at: now, on: here.connection)
    }
    let first = try await flag(here)
    #expect(first?.stage == .ramp && first?.share?.hundredths == 500 && first?.salt.isEmpty == false)
    let one = SetStage(.ramp, at: RampPercentage(hundredths: 100), of: Operated.bundleID, in: .sandbox)
    try await one.apply(one.plan(at: now, on: here.connection), by: kim, at: now, on: here.connection)
    #expect(try await flag(here)?.share?.hundredths == 100)
    let back = SetStage(.shadow, of: Operated.bundleID, in: .sandbox)
    try await back.apply(back.plan(at: now, on: here.connection), by: kim, at: now, on: here.connection)
    #expect(try await flag(here)?.share == nil)
    try await five.apply(five.plan(at: now, on: here.connection), by: kim, at: now, on: here.connection)
    #expect(try await flag(here)?.salt == first?.salt)
  }

  @Test func `stops answering everywhere, and needs nothing for it`() async throws {
    let here = try await Operated()
    let live = SetStage(.live, of: Operated.bundleID, in: .sandbox, forced: true)
    try await live.apply(live.plan(at: now, on: here.connection), by: kim, at: now, on: here.connection)
    let stop = RollBackToShadow(of: nil)
    #expect(try await stop.plan(on: here.connection).all(.stopped).count == 1)
    try await here.execute("DELETE FROM audit")
    try await here.expect("rollout.kill com.example.app Sandbox: live to shadow: ticket 4") {
      try await stop.plan(on: here.connection)
    } apply: {
      #expect($0.all(.stopped).count == 1)
      _ = try await stop.apply(by: kim, at: now, on: here.connection)
    }
    #expect(try await flag(here)?.stage == .shadow)
    let epoch = try await flag(here)?.epoch
    // With the new epoch a step that was planned before is refused.
    func effects(_ report: RollBackToShadow.Report) -> [String: RollBackToShadow.Effect] {
      .init(uniqueKeysWithValues: report.outcomes.map { ($0.standing.flag.environment.rawValue, $0.effect) })
    }
    let kept: [String: RollBackToShadow.Effect] = ["Production": .untouched, "Sandbox": .kept]
    let planned = try await stop.plan(on: here.connection)
    #expect(effects(planned) == kept)
    let again = try await stop.apply(by: kim, at: now, on: here.connection)
    #expect(effects(again) == kept)
    #expect(again.stillAnswered?.isEmpty == true)
    #expect(try await flag(here)?.stage == .shadow)
    #expect(try await flag(here)?.epoch == epoch.map { $0 + 1 })
  }

  @Test func `stops what went live after the plan, too`() async throws {
    let here = try await Operated()
    let stop = RollBackToShadow(of: Operated.bundleID)
    #expect(try await stop.plan(on: here.connection).all(.stopped).isEmpty)
    let live = SetStage(.live, of: Operated.bundleID, in: .sandbox, forced: true)
    try await live.apply(live.plan(at: now, on: here.connection), by: kim, at: now, on: here.connection)
    let other = try await RollBackToShadow(of: Operated.bundleID, in: .production).plan(on: here.connection)
    #expect(other.outcomes.map(\.standing.flag.environment) == [.production])
    #expect(other.stillAnswered?.map(\.flag.stage) == [.live])
    let report = try await stop.apply(by: kim, at: now, on: here.connection)
    #expect(report.all(.stopped).map(\.standing.flag.stage) == [.live])
    #expect(try await flag(here)?.stage == .shadow)
  }

  @Test func `stops at once beside a commit that is frozen`() async throws {
    let here = try await Operated()
    try await here.execute("UPDATE flags SET stage = 'live', epoch = 9")
    let frozen = try await Connection.open(here.configuration)
    try await frozen.read { session throws(DatabaseError) in
      try session.run("START TRANSACTION")
      _ = try session.query("SELECT epoch FROM app_recording LOCK IN SHARE MODE")
    }
    let start = ContinuousClock.now
    let report = try await RollBackToShadow(of: nil).apply(by: kim, at: now, on: here.connection) {
      Issue.record("it waits: \($0)")
    }
    #expect(ContinuousClock.now - start < .seconds(10), "it waits for a commit")
    #expect(report.all(.stopped).count == 2)
    await frozen.close()
  }

  @Test func `stops all apps but the one whose row is held, and goes on with that one`() async throws {
    let here = try await Operated()
    try await here.execute("UPDATE flags SET stage = 'live', epoch = 9")
    let frozen = try await Connection.open(here.configuration)
    try await frozen.read { session throws(DatabaseError) in
      try session.run("START TRANSACTION")
      _ = try session.query("SELECT stage FROM flags WHERE environment = 2 LOCK IN SHARE MODE")
    }
    let waits = Waits()
    let result = try await withThrowingTaskGroup(of: RollBackToShadow.Report.self) { [kim, now] group in
      group.addTask {
        try await RollBackToShadow(of: nil).apply(by: kim, at: now, on: here.connection) { left in
          waits.said.withLock { $0 += left.map { ($0.trouble?.code, $0.standing.flag.environment) } }
        }
      }
      #expect(await eventually { !waits.said.withLock { $0.isEmpty } })
      let other = try await Connection.open(here.configuration)
      let stages = try await other.read { session throws(DatabaseError) in
        try session.query("SELECT stage FROM flags ORDER BY environment").map { row throws(DatabaseError) in
          try row.text("stage")
        }
      }
      #expect(stages == ["shadow", "live"])
      await other.close()
      await frozen.close()
      return try await group.next()
    }
    let report = try #require(result)
    #expect(waits.said.withLock { $0.count } == 1)
    #expect(waits.said.withLock { $0.first?.0 } == .lockWaitTimeout)
    #expect(waits.said.withLock { $0.first?.1 } == .sandbox)
    #expect(report.all(.stopped).map(\.standing.flag.stage) == [.live, .live])
    #expect(try await flag(here)?.stage == .shadow)
  }

  @Test func `names what it could not stop, and goes on by a new connection where its own broke`() async throws {
    let here = try await Operated()
    try await here.execute("UPDATE flags SET stage = 'live', epoch = 9")
    let (frozen, broken) = (
      try await Connection.open(here.configuration), try await Connection.open(here.configuration)
    )
    try await frozen.read { session throws(DatabaseError) in
      try session.run("SET SESSION wait_timeout = 600 /*M!100300 , idle_transaction_timeout = 0 */")
      try session.run("START TRANSACTION")
      _ = try session.query("SELECT stage FROM flags WHERE environment = 2 LOCK IN SHARE MODE")
    }
    let number = await broken.id
    try await here.connection.read { session throws(DatabaseError) in
      try session.run("KILL \(digits: Int64(number))")
    }
    let report = try await RollBackToShadow(of: nil, patience: .seconds(1)).apply(by: kim, at: now, on: broken)
    #expect(report.all(.stopped).map(\.standing.flag.environment) == [.production])
    #expect(report.all(.failed).map(\.trouble?.code) == [.lockWaitTimeout])
    #expect(try await flag(here)?.stage == .live)
    await frozen.close()
    #expect(try await RollBackToShadow(of: nil).apply(by: kim, at: now, on: here.connection).all(.failed).isEmpty)
    #expect(try await flag(here)?.stage == .shadow)
  }

  @Test(arguments: [LossyLink.Loss.request, .answer])
  func `finds out whether an app is stopped where the answer to the commit is lost`(
    loss: LossyLink.Loss
  ) async throws {
    let here = try await Operated()
    try await here.execute("UPDATE flags SET stage = 'live', epoch = 9 WHERE environment = 2")
    let link = LossyLink(to: here.configuration, losing: [loss])
    defer { link.end() }
    let other = try await Connection.open(link.configuration)
    let report = try await RollBackToShadow(of: nil).apply(by: kim, at: now, on: other)
    #expect(link.lost == 1)
    #expect(report.all(.stopped).map(\.standing.flag.stage) == [.live])
    #expect(try await flag(here)?.stage == .shadow)
    // Whether its own commit put it there is unknown: it writes a new epoch.
    #expect(try await flag(here)?.epoch == (loss == .request ? 10 : 11))
  }

  @Test func `says so where nobody knows whether an app is stopped, and tries no other`() async throws {
    let here = try await Operated()
    try await here.execute("UPDATE flags SET stage = 'live', epoch = 9")
    let link = LossyLink(to: here.configuration, losing: [.answer])
    let other = try await Connection.open(link.configuration)
    link.end()
    let report = try await RollBackToShadow(of: nil, patience: .seconds(1)).apply(by: kim, at: now, on: other)
    #expect(report.all(.failed).count == 2)
    #expect(report.outcomes.first?.trouble?.code == .commitOutcomeUnknown)
    #expect(report.stillAnswered == nil)
  }

  @Test func `advances to shadow without evidence, and to ramp with it or by force`() async throws {
    let here = try await Operated()
    let advance = AdvanceRollout(Operated.bundleID, in: .sandbox)
    let first = try await advance.plan(at: now, on: here.connection)
    #expect(first.step?.stage == .shadow && first.isProven)
    _ = try await advance.apply(first, forced: false, by: kim, at: now, on: here.connection)
    let second = try await advance.plan(at: now, on: here.connection)
    #expect(second.step?.stage == .ramp && second.step?.share?.hundredths == 100)
    let missing = second.missing.map(\.name)
    for name in ["credentials", "completeness", "comparisons"] {
      #expect(missing.contains(name), "\(missing)")
    }
    try await here.expectRefusal(EvidenceMissing.self) {
      _ = try await advance.apply(second, forced: false, by: kim, at: now, on: here.connection)
    }
    try await here.expect("rollout.set com.example.app Sandbox: shadow to ramp 1 %, forced: ticket 4") {
      try await advance.plan(at: now, on: here.connection)
    } apply: {
      _ = try await advance.apply($0, forced: true, by: kim, at: now, on: here.connection)
    }
  }

  @Test func `counts evidence from when recording began again, also after later steps`() async throws {
    let here = try await Operated()
    #expect(try await flag(here)?.recordingSince == Timestamp(0))
    try await here.execute("UPDATE flags SET stage = 'legacy'")
    let advance = AdvanceRollout(Operated.bundleID, in: .sandbox)
    for (stage, date) in [(Stage.record, now), (.shadow, now + .hours(1))] {
      let plan = try await advance.plan(at: date, on: here.connection)
      _ = try await advance.apply(plan, forced: false, by: kim, at: date, on: here.connection)
      #expect(try await flag(here)?.stage == stage)
      #expect(try await flag(here)?.recordingSince == now)
    }
  }

  @Test func `does not advance from a stage that was taken back after the plan`() async throws {
    let here = try await Operated()
    let live = SetStage(.live, of: Operated.bundleID, in: .sandbox, forced: true)
    try await live.apply(live.plan(at: now, on: here.connection), by: kim, at: now, on: here.connection)
    try await here.execute(
      "UPDATE flags SET stage = 'ramp', ramp_share = 100 WHERE environment = 2")
    let advance = AdvanceRollout(Operated.bundleID, in: .sandbox)
    let plan = try await advance.plan(at: now, on: here.connection)
    #expect(plan.step?.share?.hundredths == 500)
    try await RollBackToShadow(of: Operated.bundleID).apply(by: kim, at: now, on: here.connection)
    await #expect(throws: DatabaseError.self) {
      _ = try await advance.apply(plan, forced: true, by: kim, at: now, on: here.connection)
    }
    #expect(try await flag(here)?.stage == .shadow)
  }

  @Test(arguments: [nil, 2] as [Int?])
  func `does not advance while the guard finds too many errors, or answers that take too long`(
    seconds: Int?
  ) async throws {
    let here = try await Operated()
    let scope = AppScope(app: here.app.id, environment: .sandbox)
    let advance = AdvanceRollout(Operated.bundleID, in: .sandbox)
    func add(_ side: ResponseTimeStatistics.Side, _ time: Duration?, _ count: Int) async throws {
      try await here.connection.transaction { [now] session throws(DatabaseError) in
        try AnswerTimeTable.add([.init(side, in: scope, took: time, at: now): count], in: session)
      }
    }
    func missing() async throws -> [MissingEvidence] {
      try await advance.plan(at: now, on: here.connection).missing.filter {
        $0.name == "guard" && $0.text.contains("the guard would take the app back now")
      }
    }
    try await here.execute("UPDATE flags SET stage = 'ramp', ramp_share = 500, changed_at = 0")
    #expect(try await missing().isEmpty, "nothing is known")
    try await add(.apple, .milliseconds(150), 300)
    try await add(.ours, .milliseconds(20), 380)
    #expect(try await missing().isEmpty)
    try await add(.ours, seconds.map { Duration.seconds($0) }, 20)
    let found = try #require(try await missing().first)
    #expect(found.text.contains(seconds == nil ? "20 of 400 calls got no answer" : "p99 is more than"))
    #expect(found.next(Operated.bundleID, "Sandbox") == "switchyard rollout status \(Operated.bundleID)")
    let plan = try await advance.plan(at: now, on: here.connection)
    try await here.expectRefusal(EvidenceMissing.self) {
      _ = try await advance.apply(plan, forced: false, by: kim, at: now, on: here.connection)
    }
    // A check that is turned off finds nothing, and of another window there is nothing.
    #expect(try await advance.plan(at: now + .hours(2), on: here.connection).evidence.breach == nil)
    let off = SetGuard(of: Operated.bundleID, in: .sandbox) { ($0.mostErrors, $0.mostLatency) = (0, 0) }
    try await off.apply(off.plan(on: here.connection), by: kim, at: now, on: here.connection)
    #expect(try await missing().isEmpty)
    try await here.execute("DELETE FROM guards")
    #expect(try await missing().count == 1)
    // The guard does not watch where Apple answers everybody.
    try await here.execute("UPDATE flags SET stage = 'shadow', ramp_share = NULL")
    #expect(try await missing().isEmpty)
  }

  @Test func `counts customers once, forgets what is older than the recording`() async throws {
    let here = try await Operated()
    let scope = AppScope(app: here.app.id, environment: .sandbox)
    func add(
      _ customer: UInt8, _ receipt: UInt8, counts: Bool, cause: String? = nil, at date: Timestamp
    ) async throws {
      try await here.connection.transaction { session throws(DatabaseError) in
        let voice = ComparisonTable.SampleKey(
          scope: scope, window: date, customer: [UInt8](repeating: customer, count: 16),
          receipt: [UInt8](repeating: receipt, count: 16))
        _ = try ComparisonTable.add(
          .init(cause: cause ?? (counts ? "unknown" : "equal"), counts: counts, differences: [], impact: nil),
          of: voice,
          epoch: 1, at: date, settlingAt: nil, in: session)
      }
    }
    for receipt in 1...5 { try await add(1, UInt8(receipt), counts: true, at: now - .hours(1)) }
    for customer in 2...9 { try await add(UInt8(customer), 1, counts: false, at: now - .hours(1)) }
    // The same voice again is none.
    try await add(2, 1, counts: true, at: now - .hours(1))
    let advance = AdvanceRollout(Operated.bundleID, in: .sandbox)
    let found = try await advance.plan(at: now, on: here.connection).evidence
    #expect(found.customers == 9 && found.affected == 1)
    // Of a history that is not known nothing was shown, unless access differed for another reason, too.
    for customer in 10...12 {
      try await add(UInt8(customer), 1, counts: false, cause: "incomplete", at: now - .hours(1))
    }
    try await add(13, 1, counts: true, cause: "incomplete", at: now - .hours(1))
    try await add(2, 2, counts: false, cause: "incomplete", at: now - .hours(1))
    let more = try await advance.plan(at: now, on: here.connection).evidence
    // In ramp, what was compared at another percentage is nothing seen at this one.
    #expect(more.step == nil)
    let changed = now - .minutes(30)
    try await here.execute("UPDATE flags SET stage = 'ramp', ramp_share = 500, changed_at = \(changed)")
    for customer in 20...22 { try await add(UInt8(customer), 1, counts: false, at: now - .minutes(20)) }
    let step = try #require(try await advance.plan(at: now, on: here.connection).evidence.step)
    #expect(step.customers == 3 && step.affected == 0 && step.verdict == .held)
    try await here.execute("UPDATE flags SET ramp_share = 10000")
    #expect(try await advance.plan(at: now, on: here.connection).evidence.step?.customers == 3)
    #expect(more.customers == 10 && more.affected == 2 && more.incomplete == 3, "\(more)")
    try await here.execute("UPDATE flags SET recording_since = \(now - .minutes(5))")
    #expect(try await advance.plan(at: now, on: here.connection).evidence.customers == 0)
    // Old ones count no more either.
    #expect(try await advance.plan(at: now + .days(15), on: here.connection).evidence.customers == 0)
  }

  @Test func `sets the guard`() async throws {
    let here = try await Operated()
    let set = SetGuard(of: Operated.bundleID, in: .sandbox) { $0.leastCustomers = 7 }
    try await here.expect(
      """
      rollout.guard.set com.example.app Sandbox: impact 10000 ppm, 3600 s, 7 customers, errors 10000 ppm, \
      latency 200 % of Apple's, 200 calls: ticket 4
      """
    ) {
      try await set.plan(on: here.connection)
    } apply: {
      try await set.apply($0, by: kim, at: now, on: here.connection)
    }
    #expect(try await set.plan(on: here.connection).before.leastCustomers == 7)
  }
}

/// What a kill said while it waited.
private final class Waits: Sendable {
  let said = Mutex<[(DatabaseError.Code?, Environment)]>([])
}
