@Suite struct `A change of a stage in the audit` {
  @Test(arguments: [
    ("record to shadow", "record", "shadow"), ("shadow to ramp 1 %, forced: ticket 4", "shadow", "ramp 1 %"),
    ("ramp 12.5 % to ramp 0.25 %: live to complete", "ramp 12.5 %", "ramp 0.25 %"),
    ("live to shadow: 2 of 100 customers would have had other access", "live", "shadow"),
  ])
  func `is read from the beginning of its text`(text: String, from: String, to: String) throws {
    let change = try #require(StageChange(beginning: text))
    #expect(Move.name(change.from, change.shareBefore) == from && Move.name(change.to, change.share) == to)
  }

  @Test func `is what a move writes`() throws {
    for stage in Stage.allCases where stage != .ramp {
      let text = "\(Move.name(.ramp, RampShare(hundredths: 500))) to \(Move.name(stage, nil))"
      let change = try #require(StageChange(beginning: text), "\(text)")
      #expect(change.from == .ramp && change.shareBefore?.hundredths == 500)
      #expect(change.to == stage && change.share == nil)
    }
  }

  @Test(arguments: [
    "", "record", "record to", "beyond to shadow", "ramp to live", "live 5 % to shadow", "ramp 5 to live",
    "record to shadow by hand", "12 unknown ids accepted", "3 added, 0 removed",
  ])
  func `is not read from anything else`(text: String) { #expect(StageChange(beginning: text) == nil) }
}
