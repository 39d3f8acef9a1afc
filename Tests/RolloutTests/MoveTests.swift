@Suite struct `A move` {
  private func conditions(_ change: (inout TransitionPreconditions) -> Void = { _ in }) -> TransitionPreconditions {
    var conditions = TransitionPreconditions()
    change(&conditions)
    return conditions
  }

  @Test(arguments: [
    (Stage.legacy, Stage.record, true, true), (.record, .legacy, true, true), (.record, .record, false, false),
    (.legacy, .record, false, true), (.live, .record, false, true), (.complete, .record, false, true),
    (.complete, .live, false, true), (.live, .legacy, true, true), (.live, .live, false, false),
    (.complete, .complete, false, false),
  ])
  func `goes back, and between legacy and record, without evidence`(
    from: Stage, to: Stage, hasURL: Bool, changes: Bool
  ) throws {
    let move = try StageTransition(from: from, to: to, where: conditions { $0.hasLegacyURL = hasURL })
    #expect(move.changesAnything == changes && !move.isForced)
    #expect((move.voids != nil) == (from != .legacy && to == .legacy))
  }

  @Test func `goes to shadow without evidence, and to ramp with it or by force`() throws {
    #expect(try !StageTransition(from: .record, to: .shadow, where: conditions()).isForced)
    let (five, ten) = (RampPercentage(hundredths: 500), RampPercentage(hundredths: 1_000))
    let refusal = #expect(throws: TransitionError.self) {
      try StageTransition(from: .shadow, to: .ramp, share: five, where: conditions())
    }
    #expect(refusal?.code == .noEvidence)
    #expect(
      try StageTransition(from: .shadow, to: .ramp, share: five, where: conditions { $0.isForced = true }).isForced)
    #expect(
      try !StageTransition(from: .shadow, to: .ramp, share: five, where: conditions { $0.hasEvidence = true }).isForced)
    // A larger share is a step forward, a smaller one a step back.
    let larger = #expect(throws: TransitionError.self) {
      try StageTransition(from: .ramp, at: five, to: .ramp, share: ten, where: conditions())
    }
    #expect(larger?.code == .noEvidence)
    let smaller = try StageTransition(from: .ramp, at: ten, to: .ramp, share: five, where: conditions())
    #expect(smaller.changesAnything && !smaller.isForced)
    #expect(smaller.description == "ramp 10 % to ramp 5 %")
    #expect(try !StageTransition(from: .ramp, at: ten, to: .ramp, share: ten, where: conditions()).changesAnything)
  }

  @Test func `has a share in ramp, and in no other stage`() {
    for (to, share) in [(Stage.ramp, nil), (.shadow, RampPercentage(hundredths: 1))] {
      let refusal = #expect(throws: TransitionError.self) {
        try StageTransition(from: .record, to: to, share: share, where: conditions { $0.isForced = true })
      }
      #expect(refusal?.code == .noShare)
    }
  }

  @Test(arguments: [
    (Stage.record, Stage.live), (.legacy, .live), (.record, .complete), (.live, .complete), (.legacy, .complete),
  ])
  func `is refused to where we answer, unless it is forced`(from: Stage, to: Stage) throws {
    var given = conditions { ($0.hasSharedSecret, $0.hasAPIKey) = (true, true) }
    let refusal = #expect(throws: TransitionError.self) { try StageTransition(from: from, to: to, where: given) }
    #expect(refusal?.code == .noEvidence)
    #expect(refusal?.description.contains("rollout advance") == true)
    #expect(refusal?.description.contains("--force --reason") == true)
    given.isForced = true
    let forced = try StageTransition(from: from, to: to, where: given)
    let back = try StageTransition(from: to, to: .record, where: given)
    #expect(forced.isForced && !back.isForced, "force is noted only where it was needed")
  }

  @Test(arguments: [
    (false, true, TransitionError.Code.noSharedSecret), (true, false, .noAPIKey), (false, false, .noSharedSecret),
  ])
  func `is refused to complete without a secret or a key, forced or not`(
    secret: Bool, key: Bool, code: TransitionError.Code
  ) throws {
    for isForced in [false, true] {
      let given = conditions { ($0.hasSharedSecret, $0.hasAPIKey, $0.isForced) = (secret, key, isForced) }
      let refusal = #expect(throws: TransitionError.self) {
        try StageTransition(from: .live, to: .complete, where: given)
      }
      #expect(refusal?.code == code)
      #expect(refusal?.description.contains("`switchyard app") == true)
      // Apple can be asked in live: it needs neither.
      if isForced { #expect(try StageTransition(from: .record, to: .live, where: given).isForced) }
    }
  }

  @Test func `is refused to legacy without a URL`() {
    let refusal = #expect(throws: TransitionError.self) {
      try StageTransition(from: .record, to: .legacy, where: conditions())
    }
    #expect(refusal?.code == .noLegacyURL)
    #expect(refusal?.description.contains("app legacy-url") == true)
  }

  @Test func `is refused to legacy while messages wait, since new ones would pass them by`() throws {
    let given = conditions { ($0.hasLegacyURL, $0.isBackedUp) = (true, true) }
    let refusal = #expect(throws: TransitionError.self) {
      try StageTransition(from: .record, to: .legacy, where: given)
    }
    #expect(refusal?.code == .messagesWait)
    #expect(refusal?.description.contains("--pass-by") == true)
    #expect(try StageTransition(from: .legacy, to: .record, where: given).changesAnything)
    #expect(try !StageTransition(from: .legacy, to: .legacy, where: given).changesAnything)
  }

  @Test func `decides the road of a notification: only legacy stores nothing`() {
    #expect(Stage.allCases.filter { $0.notifications == .passThrough } == [.legacy])
  }

  @Test func `decides who answers, and whether Apple's endpoint may be asked`() {
    #expect(Stage.allCases.filter { $0.answers == .ledger } == [.live, .complete])
    #expect(Stage.allCases.filter { $0.answers == .divided } == [.ramp])
    #expect(Stage.allCases.filter(\.comparesAnswers) == [.shadow, .ramp, .live])
    #expect(Stage.allCases.filter { !$0.asksVerifyReceipt } == [.complete])
    #expect(Stage.allCases.sorted() == Stage.allCases)
  }
}
