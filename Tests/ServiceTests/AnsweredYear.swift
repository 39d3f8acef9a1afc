/// A year of a simulated App Store whose verifyReceipt is off, and requests about each customer at two dates of it.
///
/// What the service knows of a customer comes from a look-up one and a half days before each date, and from the
/// notifications of the time between.
struct AnsweredYear {
  let service: AnsweringService
  let environment: AppStoreEnvironment
  private let seed: UInt64
  private let signer: PayloadSigner
  private var told: ToldNotifications
  /// What was told and not sent yet, by household.
  private var waiting: [Int: [WorldNotification]] = [:]

  /// Answers by who gave them.
  private(set) var sources: [String: Int] = [:]
  /// Answers that were not to be: by whom, with which status, to whom.
  private(set) var wrong: [String] = []
  /// What had happened to customers of whom an answer was different.
  private(set) var different: [String] = []
  private(set) var notifications = 0
  /// Requests with receipts that name nobody, which are Apple's to answer.
  private(set) var nameless = 0

  init(_ service: AnsweringService, of world: AppStoreWorld, in environment: AppStoreEnvironment) throws {
    self.service = service
    self.environment = environment
    seed = world.seed
    signer = try PayloadSigner(service.running.store.identity.chains.pki)
    told = ToldNotifications(world)
  }

  /// Days of the year; some of them follow an announcement of a price.
  private static let days: [Int64] = [45, 103, 123, 153, 204, 270, 340]
  /// Lives through the year; compares each answer that the ledger or a look-up gave.
  mutating func pass(into comparison: inout SimulatedComparison) async throws {
    try await service.control("faults", ["fault": "serverError", "on": "verifyReceipt", "times": .null])
    for round in Self.days.indices {
      let seconds = Int64((seed &+ UInt64(round) &* 7_919) % 86_400)
      let date = SimulatedCases.start + .days(Self.days[round]) + .seconds(seconds)
      try await go(to: date - .hours(36))
      let customers = customers(of: round)
      try await lookUp(customers)
      // Whether somebody was asked about a price is known from notifications alone, however old they are.
      try await send(to: customers) { [.priceAnnounced, .priceAgreed].contains($0.happening.kind) }
      for hours: Int64 in [24, 12, 1, 0] {
        try await go(to: date - .hours(hours))
        try await send(to: customers) { _ in true }
      }
      try await sendTest(at: date)
      let settled = try await settle(customers, from: date)
      try await ask(about: customers, round, at: settled, into: &comparison)
    }
  }

  /// Each customer is asked about in two rounds.
  private func customers(of round: Int) -> [CustomerID] {
    told.world.customers().enumerated().filter { number, _ in
      var random = SplitMix64(seed: seed, part: number)
      let first = random.number(in: 0..<Self.days.count)
      let second = (first + random.number(in: 1..<Self.days.count)) % Self.days.count
      return round == first || round == second
    }.map(\.element)
  }

  private mutating func go(to date: Timestamp) async throws {
    for notification in told.take(until: date) {
      waiting[notification.customer.household, default: []].append(notification)
    }
    // As many milliseconds later as the requests of the cases are.
    try await service.advance(to: date, clock: date + .milliseconds(402))
  }

  // MARK: What becomes known

  private mutating func lookUp(_ customers: [CustomerID]) async throws {
    let world = service.running.world
    var receipts: [String] = []
    for customer in customers where !world.state(of: customer).legacyPurchases.isEmpty {
      receipts.append(try service.signed(world.state(of: customer).receipt))
    }
    let answers = try await service.each(receipts) { [self] in try await ask($0) }
    for answer in answers {
      // Of a few customers something is still open after it: then the receipt stands in, which ends nothing. Of others
      // somebody of their family was looked up a moment before.
      let isExpected =
        ["lookup", "ledger"].contains(answer.source) || answer.source == "receipt" && answer.code == 0
      note(answer, isExpected: isExpected, "a first look-up")
    }
  }

  /// Sends what waits of the customers' households; what is not chosen of it is never sent.
  private mutating func send(to customers: [CustomerID], where isChosen: (WorldNotification) -> Bool) async throws {
    let households = Set(customers.map(\.household)).sorted()
    let chosen = households.flatMap { waiting.removeValue(forKey: $0) ?? [] }.filter(isChosen)
    let bodies = try chosen.compactMap { try $0.v2?.signed(by: signer).body }
    let answers = try await service.each(bodies) { [service] in
      try await service.post($0, to: service.base + "/notifications")
    }
    notifications += bodies.count
    for answer in answers where answer.status != 200 { wrong.append("a notification: \(answer)") }
  }

  /// In some rounds nothing happens to those who are asked about: what Apple was asked to send vouches for the way.
  private mutating func sendTest(at date: Timestamp) async throws {
    var app = told.world.apps[0].app
    app.environment = environment
    let id = "00000000-0000-4000-8000-\(String(date.sinceEpoch).suffix(12))"
    let test = try NotificationDraft.test(of: app, at: date, uuid: id).signed(by: signer)
    let answer = try await service.post(test.body, to: service.base + "/notifications")
    if answer.status != 200 { wrong.append("a test notification: \(answer)") }
  }

  /// Goes on until Apple was asked about everybody who was due and nobody is being asked about; returns the date then.
  ///
  /// An answer meanwhile would say that a look-up is under way. In steps, since shares of Apple's limits and pauses pass with
  /// the clock alone, which stands still between them: a share counts from 250 milliseconds on, for one or two seconds.
  private mutating func settle(_ customers: [CustomerID], from start: Timestamp) async throws -> Timestamp {
    var (date, steps) = (start, 0)
    let deadline = ContinuousClock.now + .seconds(600)
    while ContinuousClock.now < deadline {
      let now = service.clock.clock.now().sinceEpoch
      let isSettled = try await eventually(within: .seconds(1)) { [service] in
        try await service.rowCount("work WHERE state = 0 AND (due_at <= \(now) OR owner IS NOT NULL)") == 0
      }
      if isSettled { return date }
      steps += 1
      // After a longer step a share counts anew: the short ones behind it let the look-ups go.
      date = date + (steps % 12 == 0 ? .minutes(6) : .milliseconds(300))
      try await go(to: date)
      try await send(to: customers) { _ in true }
    }
    wrong.append("somebody who was due was not looked up")
    return date
  }

  // MARK: What is answered

  private struct Answered: Sendable {
    let customer: CustomerID
    let sample: SimulatedCase
    let answers: [AnsweringService.Answer]
  }

  private mutating func ask(
    about customers: [CustomerID], _ round: Int, at date: Timestamp, into comparison: inout SimulatedComparison
  ) async throws {
    let cases = SimulatedCases(told.world, in: environment, seed: seed)
    for start in stride(from: 0, to: customers.count, by: 64) {
      var samples: [(customer: CustomerID, cases: [SimulatedCase])] = []
      for customer in customers[start..<min(start + 64, customers.count)] {
        var random = SplitMix64(seed: seed &+ UInt64(round + 1), part: customer.household * 8 + customer.member)
        samples.append((customer, try cases.cases(of: customer, at: date, &random)))
      }
      let answered = try await service.each(samples) { [self] in try await answers($0.cases, of: $0.customer) }
      for one in answered.joined() { try take(one, into: &comparison) }
    }
  }

  private func answers(_ samples: [SimulatedCase], of customer: CustomerID) async throws -> [Answered] {
    var answered: [Answered] = []
    for sample in samples {
      let (receipt, excludesOld) = (sample.request.receiptData, sample.request.excludesOldTransactions)
      var answers = [try await ask(receipt, excludesOld: excludesOld)]
      // Looked up, everything is known: the ledger alone says the same.
      if answers[0].source == "lookup" { answers.append(try await ask(receipt, excludesOld: excludesOld)) }
      answered.append(Answered(customer: customer, sample: sample, answers: answers))
    }
    return answered
  }

  private mutating func take(_ answered: Answered, into comparison: inout SimulatedComparison) throws {
    let sample = answered.sample
    let name = "\(sample.situations.map(\.rawValue).sorted())"
    if sample.request.receipt.originalTransactionIDs.isEmpty {
      nameless += 1
      for answer in answered.answers { note(answer, isExpected: answer.code == 21_005 && answer.source == nil, name) }
      return
    }
    for (place, answer) in answered.answers.enumerated() {
      let isLast = place == answered.answers.count - 1
      note(answer, isExpected: answer.source == (isLast ? "ledger" : "lookup"), name)
      let before = comparison.differences
      try comparison.add(sample, answered: answer.body.encoded())
      guard comparison.differences > before else { continue }
      let log = told.world.log(of: answered.customer).filter { $0.date <= sample.request.date }
      different.append("\(answered.customer) in \(environment): \(log.map { "\($0.kind)" })")
    }
  }

  private mutating func note(_ answer: AnsweringService.Answer, isExpected: Bool, _ name: String) {
    sources[answer.source ?? "status \(answer.code ?? -1)", default: 0] += 1
    if !isExpected { wrong.append("\(answer.source ?? "-") \(answer.code ?? -1): \(name)") }
  }

  private func ask(_ receipt: String, excludesOld: Bool = false) async throws -> AnsweringService.Answer {
    try await service.ask(
      AnsweringService.request(receipt, excludesOld: excludesOld), path: service.path(environment), token: service.token
    )
  }
}
