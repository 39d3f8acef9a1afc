@testable import Delivery

@Suite struct `The slots of a lane` {
  /// So many answers in a row, with all slots in use.
  private func slots(answers: Int, each milliseconds: Int64, from slots: Slots = Slots()) -> Slots {
    var slots = slots
    for _ in 0..<answers { slots.noteAnswer(within: milliseconds, underWay: slots.limit) }
    return slots
  }

  @Test func `are as many as ever at the beginning, and more while all are in use and answers are quick`() {
    #expect(Slots().limit == 32)
    #expect(slots(answers: 32, each: 5).limit == 33 || slots(answers: 33, each: 5).limit == 33)
    #expect(slots(answers: 10_000, each: 5).limit == 128, "never more")
  }

  @Test func `stay when some are free`() {
    var slots = Slots()
    for _ in 0..<1_000 { slots.noteAnswer(within: 5, underWay: 31) }
    #expect(slots.limit == 32)
  }

  @Test(arguments: [(5, 24, true), (5, 26, false), (200, 390, true), (200, 410, false)] as [(Int64, Int64, Bool)])
  func `grow no more when answers take longer than usual`(usual: Int64, then: Int64, grows: Bool) {
    let before = slots(answers: 1, each: usual)
    let after = slots(answers: 40, each: then, from: before)
    #expect((after.limit > 32) == grows)
  }

  @Test func `are halved when the destination fails, once for all that were under way`() {
    var slots = Slots()
    for _ in 0..<16 { slots.noteFailure() }
    #expect(slots.limit == 16)
    for _ in 0..<500 { slots.noteFailure() }
    #expect(slots.limit == 4, "never fewer")
  }

  @Test func `come back quickly to where they began`() {
    var slots = Slots()
    for _ in 0..<500 { slots.noteFailure() }
    #expect(self.slots(answers: 28, each: 5, from: slots).limit == 32)
  }
}
