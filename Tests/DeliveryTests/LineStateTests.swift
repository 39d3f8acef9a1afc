@testable import Delivery

@Suite struct `A destination's line` {
  private static let now = Timestamp(1_780_000_000_000)

  private func work(_ sequence: Int64, _ proof: TrustLevel = .proven, size: Int = 1_000) -> LineState.Work {
    LineState.Work(
      delivery: LeasedDelivery(
        sequence: sequence, destination: Destination.ID(1), message: .sha256([]), proof: proof, size: size, attempt: 1,
        createdAt: Self.now, expiresAt: Self.now + .days(3), leasedUntil: Self.now + .seconds(60), owner: []),
      body: .missing)
  }

  private func line() -> LineState {
    var line = LineState(mostBytes: 1_000_000)
    line.enable(true)
    return line
  }

  private func turn(_ line: inout LineState, after interval: Interval = .seconds(0)) -> OutboxTurn? {
    guard case .turn(let turn) = line.next(at: Self.now + interval) else { return nil }
    return turn
  }

  private func sorts(_ line: inout LineState) -> Bool {
    if case .sort = line.next(at: Self.now) { true } else { false }
  }

  @discardableResult
  private func end(
    _ line: inout LineState, _ work: LineState.Work, _ attempt: Attempt, _ outcome: Settlement.Outcome
  ) -> LineState.Change? {
    line.note(attempt, of: work, outcome, within: 5, at: Self.now) { $0 }
  }

  private func fail(_ line: inout LineState, _ work: LineState.Work) -> LineState.Change? {
    end(&line, work, .failed(.status(503)), .failed(error: "answered 503", retryAt: Self.now + .seconds(1)))
  }

  @Test func `does nothing until something may be due, and then looks once`() {
    var line = line()
    #expect(turn(&line) == nil)
    line.wake([.proven], isNew: true, needsSorting: false)
    #expect(turn(&line)?.wanted == [.proven: 32])
    #expect(turn(&line) == nil)
    line.wake([.claimed, .unproven], isNew: true, needsSorting: false)
    #expect(turn(&line)?.wanted == [.claimed: 32, .unproven: 32], "each class has slots of its own")
  }

  @Test func `fills free slots at once from what it leased ahead, and leases again before they run dry`() {
    var line = line()
    line.wake([.proven], isNew: true, needsSorting: false)
    _ = turn(&line)
    line.admit((0..<32).map { work($0) })
    let begun = line.start()
    #expect(begun.count == 32 && line.start().isEmpty)
    for one in begun.prefix(20) { end(&line, one, .delivered(status: 200), .delivered) }
    let next = turn(&line)
    #expect(next?.settlements.count == 20)
    #expect(next?.wanted[.proven] == 20 + 2 * 20, "what ended, and twice as many ahead")
    line.admit((32..<92).map { work($0) })
    #expect(line.start().count == 20, "the others wait for a slot")
    end(&line, begun[20], .delivered(status: 200), .delivered)
    #expect(line.start(.proven)?.delivery.sequence == 52, "the same moment")
  }

  @Test func `settles what ended together, in one turn`() {
    var line = line()
    line.wake([.proven], isNew: true, needsSorting: false)
    _ = turn(&line)
    line.admit((0..<3).map { work($0) })
    for one in line.start() { end(&line, one, .delivered(status: 200), .delivered) }
    #expect(turn(&line)?.settlements.map(\.delivery.sequence) == [0, 1, 2])
    #expect(line.isIdle && turn(&line) == nil)
  }

  @Test func `leases no more bodies than it may hold`() {
    var line = line()
    line.wake([.proven], isNew: true, needsSorting: false)
    #expect(turn(&line)?.bytes[.proven] == 1_000_000)
    line.admit([work(1, size: 700_000)])
    line.wake([.proven], isNew: true, needsSorting: false)
    #expect(turn(&line)?.bytes[.proven] == 300_000)
    line.admit([work(2, size: 400_000)])
    line.wake([.proven], isNew: true, needsSorting: false)
    #expect(turn(&line) == nil, "it holds more than it may")
    for one in line.start() { end(&line, one, .delivered(status: 200), .delivered) }
    #expect(turn(&line)?.bytes[.proven] == 1_000_000)
  }

  @Test func `leases signed messages although the bodies of another class are as many as it may hold`() {
    var line = line()
    line.wake([.unproven], isNew: true, needsSorting: false)
    _ = turn(&line)
    line.admit((0..<8).map { work($0, .unproven, size: 200_000) })
    line.wake([.proven, .unproven], isNew: true, needsSorting: false)
    #expect(turn(&line)?.wanted == [.proven: 32])
  }

  @Test func `gives back what it leased ahead when the destination seems to be down, and probes by one`() {
    var line = line()
    line.wake([.proven], isNew: true, needsSorting: false)
    _ = turn(&line)
    line.admit((0..<40).map { work($0) })
    let begun = line.start()
    var changes: [LineState.Change] = []
    for one in begun { if let change = fail(&line, one) { changes.append(change) } }
    #expect(changes == [.init(isDown: true)])
    let settled = turn(&line)
    #expect(settled?.settlements.count == 40 && settled?.wanted[.proven] == nil)
    #expect(settled?.settlements.filter { $0.outcome == .released }.count == 8)
    line.wake([.proven], isNew: true, needsSorting: false)
    #expect(turn(&line) == nil)
    #expect(turn(&line, after: .minutes(1))?.wanted == [.proven: 1])
    line.admit([work(41)])
    let probe = line.start()
    #expect(turn(&line, after: .minutes(1)) == nil)
    #expect(end(&line, probe[0], .delivered(status: 200), .delivered) == .init(isDown: false))
    #expect(turn(&line, after: .minutes(1))?.wanted[.proven] ?? 0 > 1)
  }

  @Test func `keeps the other classes going when one of them fails`() {
    var line = line()
    line.wake([.proven, .unproven], isNew: true, needsSorting: false)
    _ = turn(&line)
    line.admit((0..<10).map { work($0, .unproven) })
    for one in line.start() { _ = fail(&line, one) }
    line.wake([.proven, .unproven], isNew: true, needsSorting: false)
    let next = turn(&line)
    #expect(next?.wanted[.proven] == 32 && next?.wanted[.unproven] == nil)
  }

  @Test func `sorts before it leases, and writes before it sorts`() throws {
    var line = line()
    line.wake([.proven], isNew: false, needsSorting: true)
    line.giveBack([work(1).delivery])
    let next = turn(&line)
    let written = try #require(next)
    #expect(written.settlements.count == 1 && written.wanted == [:])
    #expect(sorts(&line))
    line.noteSorted(mayBeMore: true)
    #expect(sorts(&line))
    line.noteSorted(mayBeMore: false)
    #expect(turn(&line)?.wanted.count == 3)
  }

  @Test func `goes on when more is due than it leased, and from where it came`() throws {
    var line = line()
    line.wake([.proven], isNew: false, needsSorting: false)
    let next = turn(&line)
    let first = try #require(next)
    #expect(first.since == [:], "everything that is due")
    var outcome = OutboxTurn.Outcome()
    outcome.unfinished = [.proven]
    outcome.reached = [.proven: Self.now - .seconds(10)]
    line.note(outcome, of: first, took: 3, at: Self.now)
    #expect(turn(&line)?.since == [.proven: Self.now - .seconds(12)])
    line.wake([.proven], isNew: true, needsSorting: false)
    outcome.freedSince = Self.now - .minutes(1)
    line.note(outcome, of: first, took: 3, at: Self.now)
    #expect(turn(&line)?.since == [.proven: Self.now - .seconds(62)], "from the one that another made ready")
    line.wake([.proven], isNew: true, needsSorting: false)
    #expect(turn(&line, after: .seconds(1))?.since == [:], "everything, once a second")
  }

  @Test func `looks for everything less often where that takes long`() throws {
    var line = line()
    line.wake([.proven], isNew: false, needsSorting: false)
    let next = turn(&line)
    let first = try #require(next)
    var outcome = OutboxTurn.Outcome()
    outcome.reached = [.proven: Self.now]
    line.note(outcome, of: first, took: 200, at: Self.now)
    line.wake([.proven], isNew: true, needsSorting: false)
    #expect(turn(&line, after: .seconds(3))?.since != [:])
    line.wake([.proven], isNew: true, needsSorting: false)
    #expect(turn(&line, after: .seconds(4))?.since == [:])
  }

  @Test func `keeps what the database did not take until its lease ends, and rests for a moment`() {
    var line = line()
    let settlements = [Settlement(work(1).delivery, .delivered)]
    #expect(line.putBack(settlements, until: Self.now + .milliseconds(250), at: Self.now) == 0)
    #expect(turn(&line) == nil)
    #expect(turn(&line, after: .milliseconds(250))?.settlements.count == 1)
    let failed = [Settlement(work(2).delivery, .failed(error: "answered 503", retryAt: Self.now))]
    #expect(line.putBack(failed, until: Self.now, at: Self.now + .seconds(61)) == 1)
    #expect(turn(&line, after: .seconds(61)) == nil)
    // What the destination has taken is noted whoever holds the lease by then.
    #expect(line.putBack(settlements, until: Self.now, at: Self.now + .seconds(61)) == 0)
    #expect(turn(&line, after: .seconds(61))?.settlements.count == 1)
  }

  @Test func `leases nothing for a destination that is off, and gives back what it has`() throws {
    var line = line()
    line.wake([.proven], isNew: true, needsSorting: false)
    _ = turn(&line)
    line.admit([work(1)])
    line.enable(false)
    line.wake([.proven], isNew: true, needsSorting: true)
    let next = turn(&line)
    let written = try #require(next)
    #expect(written.settlements.map(\.outcome) == [.released] && written.wanted == [:])
    #expect(turn(&line) == nil)
  }

  @Test(arguments: [400, 401, 403, 404, 409, 410, 422, 429])
  func `is not taken for down because of what it refuses`(status: Int) {
    var line = line()
    line.admit((0..<20).map { work($0) })
    for one in line.start() {
      let outcome = Settlement.Outcome.failed(error: "answered \(status)", retryAt: Self.now)
      #expect(end(&line, one, .failed(.status(status)), outcome) == nil)
    }
  }

  @Test func `counts refusals of a message only after others of its lane were taken`() {
    var line = line()
    let (stubborn, other, elsewhere) = (work(1), work(2), work(3, .claimed))
    let refused = Attempt.failed(.status(401))
    for _ in 0..<20 { #expect(line.refusals(of: stubborn, refused) == 0, "everything is refused") }
    end(&line, elsewhere, .delivered(status: 200), .delivered)
    #expect(line.refusals(of: stubborn, refused) == 0, "another lane")
    for round in 1...3 {
      end(&line, other, .delivered(status: 200), .delivered)
      #expect(line.refusals(of: stubborn, refused) == round)
      #expect(line.refusals(of: stubborn, refused) == round, "nothing was taken since")
    }
    for waits in [408, 425, 429, 500] {
      end(&line, other, .delivered(status: 200), .delivered)
      #expect(line.refusals(of: stubborn, .failed(.status(waits))) == 0, "\(waits) asks for another attempt")
    }
  }
}
