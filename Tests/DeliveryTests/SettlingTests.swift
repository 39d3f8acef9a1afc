@Suite struct `What is noted of an attempt` {
  private static let now = Timestamp(1_780_000_000_000)

  private static func delivery(
    _ proof: TrustLevel = .proven, attempt: Int = 1, expiresAfter: Interval = .days(3), age: Interval = .seconds(0)
  ) -> LeasedDelivery {
    LeasedDelivery(
      sequence: 1, destination: Destination.ID(1), message: .sha256([]), proof: proof, size: 0, attempt: attempt,
      createdAt: now - age, expiresAt: now + expiresAfter, leasedUntil: now + .seconds(60), owner: [])
  }

  private static func isRetried(_ outcome: Settlement.Outcome) -> Bool {
    if case .failed = outcome { true } else { false }
  }

  private func outcome(
    of attempt: Attempt, _ delivery: LeasedDelivery = Self.delivery(), refusals: Int = 0
  ) -> Settlement.Outcome {
    Settlement.Outcome(after: attempt, of: delivery, refusals: refusals, backoff: Backoff(), at: Self.now) { $0 }
  }

  @Test func `is that it was delivered, or given back unused when the process stops`() {
    #expect(outcome(of: .delivered(status: 204)) == .delivered)
    #expect(outcome(of: .failed(.noAnswer(.cancelled))) == .released)
    #expect(outcome(of: .failed(.noAnswer(.shutDown))) == .released)
  }

  @Test(arguments: [(1, 1), (2, 2), (5, 16), (20, 900)])
  func `is when it is tried again, later each time`(attempt: Int, seconds: Int64) {
    #expect(
      outcome(of: .failed(.status(503)), Self.delivery(attempt: attempt))
        == .failed(error: "answered 503", retryAt: Self.now + .seconds(seconds)))
  }

  @Test func `is that it is given up when three days are over or there is nothing to send`() {
    #expect(
      outcome(of: .failed(.status(503)), Self.delivery(expiresAfter: .seconds(0))) == .dead(error: "answered 503"))
    #expect(outcome(of: .failed(.bodyMissing)) == .dead(error: "the body was purged"))
    #expect(outcome(of: .failed(.bodyUnreadable)) == .dead(error: "\(Attempt.Reason.bodyUnreadable)"))
  }

  @Test(arguments: [301, 400, 401, 403, 500, 503])
  func `is that a message without proof is given up once anybody has answered`(status: Int) {
    #expect(outcome(of: .failed(.status(status)), Self.delivery(.unproven)) == .dead(error: "answered \(status)"))
  }

  @Test func `is that a message without proof is tried three times more if nobody answers`() {
    for attempt in 1...3 {
      let outcome = outcome(of: .failed(.noAnswer(.couldNotConnect)), Self.delivery(.unproven, attempt: attempt))
      #expect(Self.isRetried(outcome), "attempt \(attempt)")
    }
    let last = outcome(of: .failed(.noAnswer(.couldNotConnect)), Self.delivery(.unproven, attempt: 4))
    #expect(last == .dead(error: "no answer: couldNotConnect"))
  }

  @Test func `is that a message is given up early where the destination refuses it alone, after an hour`() {
    let refused = Attempt.failed(.status(401))
    for proof in [TrustLevel.proven, .claimed] {
      let old = Self.delivery(proof, attempt: 30, age: .hours(1))
      #expect(outcome(of: refused, old, refusals: 8) == .dead(error: "answered 401"))
      // A bad deploy refuses everything: nothing was taken meanwhile, and nothing is lost.
      for (delivery, refusals) in [(old, 7), (Self.delivery(proof, attempt: 30, age: .minutes(59)), 8)] {
        let outcome = outcome(of: refused, delivery, refusals: refusals)
        #expect(Self.isRetried(outcome), "\(proof) after \(refusals) refusals")
      }
    }
  }
}
