@testable import Runtime

@Suite struct RepeatedSignalFilterTests {
  @Test func `a signal within 300 ms of the first is the same one, and a later one insists`() {
    var repeats = RepeatedSignalFilter()
    let first = ContinuousClock.now
    #expect(repeats.note(at: first) == .first)
    #expect(repeats.note(at: first + .milliseconds(1)) == .again)
    #expect(repeats.note(at: first + .milliseconds(299)) == .again)
    #expect(repeats.note(at: first + .milliseconds(300)) == .second)
    #expect(repeats.note(at: first + .milliseconds(301)) == .second)
  }
}
