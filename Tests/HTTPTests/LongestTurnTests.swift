@testable import HTTPServer

@Suite struct `The longest turn of an event loop` {
  @Test func `is that of the last one to two minutes`() {
    let (turns, start) = (EventLoopStallTracker(), ContinuousClock.now)
    #expect(turns.longest(at: start) == .zero)
    turns.note(.milliseconds(40), at: start)
    turns.note(.milliseconds(30), at: start + .seconds(1))
    #expect(turns.longest(at: start + .seconds(59)) == .milliseconds(40))
    turns.note(.milliseconds(20), at: start + .seconds(61))
    #expect(turns.longest(at: start + .seconds(100)) == .milliseconds(40))
    #expect(turns.longest(at: start + .seconds(122)) == .milliseconds(20))
    #expect(turns.longest(at: start + .seconds(500)) == .zero)
  }

  @Test func `is not noted below a millisecond`() {
    let (turns, start) = (EventLoopStallTracker(), ContinuousClock.now)
    turns.note(.microseconds(999), at: start)
    #expect(turns.longest(at: start) == .zero)
  }
}
