@Suite struct `A stage that was set after an earlier one` {
  private func flag(_ stage: Stage, _ hundredths: Int? = nil, salt: String = "salt", epoch: Int64) -> StageRecord {
    StageRecord(
      environment: .sandbox, stage: stage, epoch: epoch, share: hundredths.flatMap { RampPercentage(hundredths: $0) },
      salt: salt)
  }

  @Test func `goes on answering those it certainly answers`() {
    let five = flag(.ramp, 500, epoch: 1)
    #expect(five.answersAll(answeredBy: five))
    // It went to shadow and back.
    #expect(flag(.ramp, 500, epoch: 3).answersAll(answeredBy: five))
    #expect(flag(.ramp, 501, epoch: 2).answersAll(answeredBy: five))
    #expect(flag(.live, epoch: 2).answersAll(answeredBy: five))
    #expect(flag(.complete, epoch: 2).answersAll(answeredBy: flag(.live, epoch: 1)))
    #expect(flag(.live, epoch: 2).answersAll(answeredBy: flag(.complete, epoch: 1)))
  }

  @Test func `does not answer those it may have left to Apple`() {
    let five = flag(.ramp, 500, epoch: 1)
    #expect(!flag(.ramp, 499, epoch: 2).answersAll(answeredBy: five))
    #expect(!flag(.ramp, 500, salt: "other", epoch: 2).answersAll(answeredBy: five))
    #expect(!flag(.ramp, 10_000, epoch: 2).answersAll(answeredBy: flag(.live, epoch: 1)))
    for stage in [Stage.legacy, .record, .shadow] {
      #expect(!flag(stage, epoch: 2).answersAll(answeredBy: flag(.live, epoch: 1)))
    }
  }
}
