import Runtime
import Testing

@Suite struct `The pace of a line in the log` {
  @Test func `is one a minute for each kind, with the number of those left out`() {
    let pace = LogPace()
    let start = ContinuousClock.now
    #expect(pace.turn(of: "a", at: start) == 0)
    for second in 1..<60 { #expect(pace.turn(of: "a", at: start + .seconds(second)) == nil) }
    #expect(pace.turn(of: "b", at: start + .seconds(1)) == 0)
    #expect(pace.turn(of: "a", at: start + .seconds(60)) == 59)
    #expect(pace.turn(of: "a", at: start + .seconds(119)) == nil)
    #expect(pace.turn(of: "a", at: start + .seconds(500)) == 1)
  }
}
