@Suite struct `The pace of a line in the log` {
  @Test func `is one a minute for each kind, with the number of those left out`() {
    let pace = LogRateLimiter()
    let start = ContinuousClock.now
    #expect(pace.turn(of: "a", at: start) == 0)
    for second in 1..<60 { #expect(pace.turn(of: "a", at: start + .seconds(second)) == nil) }
    #expect(pace.turn(of: "b", at: start + .seconds(1)) == 0)
    #expect(pace.turn(of: "a", at: start + .seconds(60)) == 59)
    #expect(pace.turn(of: "a", at: start + .seconds(119)) == nil)
    #expect(pace.turn(of: "a", at: start + .seconds(500)) == 1)
  }

  @Test func `is as many as are named, and the next minute's first says how many were left out`() {
    let pace = LogRateLimiter(3)
    let start = ContinuousClock.now
    for second in 0..<3 { #expect(pace.turn(of: "a", at: start + .seconds(second)) == 0) }
    for second in 3..<60 { #expect(pace.turn(of: "a", at: start + .seconds(second)) == nil) }
    #expect(pace.turn(of: "a", at: start + .seconds(60)) == 57)
    #expect(pace.turn(of: "a", at: start + .seconds(61)) == 0)
  }
}
