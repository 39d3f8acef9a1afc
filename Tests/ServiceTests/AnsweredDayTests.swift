/// The day on which Apple's legacy endpoint is switched off.
@Suite struct `A day without Apple's verifyReceipt` {
  @Test(arguments: ["live", "complete"])
  func `ends nobody's access, whatever is lost or late`(stage: String) async throws {
    let customers = max(40, TestSize.simulatedCustomers / 10)
    let start = ContinuousClock.now
    let world = AnsweredDay.world(customers: customers, seed: stage == "live" ? 5 : 6)
    let passed = Mutex<AnsweredDay?>(nil)
    let backEnds = [try #require(Network("127.0.0.0/8"))]
    try await AnsweringService.with(
      world, stage: stage, in: .production, clockRuns: false,
      {
        $0.answersKept = .milliseconds(0)
        // What strangers may ask in a second depends on how fast this machine asks.
        $0.callers.backEnds = backEnds
        // Callers wait no longer for an App Store Server API that is down.
        $0.answering.lookUpWithin = .seconds(1)
        $0.answering.flowKept = .zero
      }
    ) { service in
      var day = try AnsweredDay(service, of: world)
      try await day.pass(steps: 8)
      passed.withLock { [day] in $0 = day }
    }
    let lived = passed.withLock { $0 }
    let day = try #require(lived)
    for line in day.deprived.prefix(20) { print("deprived in \(stage): \(line)") }
    #expect(day.deprived.isEmpty, "\(day.deprived.count) answers")
    for line in day.unheardReturns.prefix(20) { print("unheard return in \(stage): \(line)") }
    // They last until Apple's history is compared; no more than the share of news that is late or lost.
    #expect(day.unheardReturns.count * 50 <= day.asked, "\(day.unheardReturns.count) answers")
    #expect(day.unreadable.isEmpty, "\(day.unreadable.prefix(3))")
    // It would be no day if nothing happened, and no answer if all were postponed.
    #expect(day.happenings["renewed", default: 0] > 5 && day.fates.count > 1, "\(day.happenings) \(day.fates)")
    #expect(day.askedWithAccess * 4 > day.asked && day.postponed * 2 < day.asked)
    let share = Double(day.postponed * 1_000 / day.asked) / 10
    print(
      "a day in \(stage): \(world.customerCount) customers, \(day.asked) answers, \(day.askedWithAccess) of them about "
        + "somebody with access, \(day.postponed) were 21005 (\(share) %), \(day.unheardReturns.count) of an unheard return, \(day.nameless) receipts without purchases, "
        + "\(ContinuousClock.now - start)")
    print(
      "at first \(day.begun.sorted { $0.key < $1.key }); \(day.happenings.sorted { $0.key < $1.key }) \(day.fates.sorted { $0.key < $1.key })"
    )
    print("\(day.answers.sorted { $0.key < $1.key })")
  }
}
