@Suite struct `A circuit` {
  private let start = Timestamp(1_780_000_000_000)

  @Test func `lets everything through until five failures in a row, then one probe at a time`() {
    var circuit = Circuit()
    for _ in 0..<4 { circuit.noteFailure(at: start) { $0 } }
    #expect(!circuit.isOpen && circuit.allowance(free: 9, busy: 3, at: start) == 9)
    circuit.noteFailure(at: start) { $0 }
    #expect(circuit.isOpen)
    #expect(circuit.allowance(free: 9, busy: 0, at: start) == 0)
    let later = start + .minutes(1)
    #expect(circuit.allowance(free: 9, busy: 0, at: later) == 1)
    #expect(circuit.allowance(free: 9, busy: 1, at: later) == 0)
    circuit.noteSuccess()
    #expect(circuit == Circuit() && circuit.allowance(free: 9, busy: 1, at: start) == 9)
  }

  @Test func `waits ever longer between probes, but never more than a minute`() {
    var circuit = Circuit()
    for _ in 0..<60 { circuit.noteFailure(at: start) { $0 } }
    #expect(circuit.allowance(free: 1, busy: 0, at: start + .seconds(59)) == 0)
    #expect(circuit.allowance(free: 1, busy: 0, at: start + .seconds(60)) == 1)
  }

  @Test(
    arguments: [(1, 1_000), (2, 2_000), (5, 16_000), (40, 900_000), (Int.max, 900_000), (0, 1_000)]
      as [(Int, Int64)])
  func `has a backoff that doubles up to a quarter of an hour`(attempt: Int, milliseconds: Int64) {
    #expect(Backoff().ceiling(after: attempt).milliseconds == milliseconds)
  }

  @Test(arguments: [(200, true), (204, true), (299, true), (301, false), (400, false), (410, false), (503, false)])
  func `counts 2xx alone as taken`(status: Int, isTaken: Bool) {
    #expect((Attempt(status: status) == .delivered(status: status)) == isTaken)
  }
}
