import Ledger
import Time

/// What goes on at one destination, as values: decides what is to be done next, and does nothing itself.
struct LineState {
  /// A row that is leased, with its body.
  struct Work: Sendable {
    let delivery: LeasedDelivery
    let body: Body
  }

  /// What is stored of a message.
  enum Body: Hashable, Sendable {
    case read([UInt8])
    case missing
    /// It does not open, or is damaged.
    case unreadable
  }

  /// What goes on in one lane: the messages of one class.
  struct Lane {
    var circuit = Circuit()
    var slots = Slots()
    var underWay = 0
    /// Leased and not begun, so that a slot that becomes free is in use again at once.
    var queue: ArraySlice<Work> = []
    /// Of bodies that are held: in the queue or under way.
    var bytes = 0
    /// Attempts that ended since it was last leased for.
    var ended = 0
    /// Whether something may be due that was not looked for yet.
    var mayBeDue = false
    /// How far the search has come: what was due earlier is gone, but for what others made ready.
    var reached: Timestamp?
    /// How many messages the destination took.
    var taken = 0
    /// Of messages that the destination refused: how often after it took others, and how many it had taken then.
    var refusals: [Int64: (count: Int, taken: Int)] = [:]
    /// From then on it is looked for everything again, however long it is due.
    var looksWhollyAt = Timestamp(.min)

    /// How many rows are wanted: those that fit the slots, and as many ahead as ended during two turns like the last.
    func wanted(at now: Timestamp) -> Int {
      let held = underWay + queue.count
      let ahead = min(2 * ended, LineState.mostAhead)
      return circuit.allowance(free: max(0, slots.limit + ahead - held), busy: held, at: now)
    }
  }

  enum Step {
    case sort
    case turn(OutboxTurn)
  }

  /// The most rows that are leased ahead of the slots of a lane.
  private static let mostAhead = 256
  /// A search goes so far back behind the one before: commits take a moment, and the clocks of two hosts differ.
  private static let overlap = Interval.seconds(2)
  /// How often it is looked for everything that is due while there is much to do.
  private static let wholePause = Interval.seconds(1)

  private(set) var lanes: [TrustLevel: Lane] = [:]
  private var settlements: [Settlement] = []
  private var needsSorting = false
  /// While it is not, nothing is leased.
  private var isEnabled = true
  /// Nothing is asked of a database that has just failed.
  private var pausedUntil = Timestamp(.min)
  /// Of bodies that a lane holds.
  private let mostBytes: Int

  init(mostBytes: Int) { self.mostBytes = mostBytes }

  /// Whether outcomes wait to be written.
  var hasToSettle: Bool { !settlements.isEmpty }

  /// Whether nothing is held: neither leased nor to be settled.
  var isIdle: Bool { settlements.isEmpty && lanes.values.allSatisfy { $0.underWay == 0 && $0.queue.isEmpty } }

  // MARK: What happened

  /// Something of these classes may be due.
  ///
  /// - Parameter isNew: whether it has just been put into the outbox; else it may be due for long.
  mutating func wake(_ classes: Set<TrustLevel>, isNew: Bool, needsSorting: Bool) {
    for proof in classes {
      var lane = lanes[proof] ?? Lane()
      lane.mayBeDue = true
      if !isNew, lane.underWay == 0, lane.queue.isEmpty { lane.looksWhollyAt = Timestamp(.min) }
      lanes[proof] = lane
    }
    if needsSorting { self.needsSorting = true }
  }

  mutating func enable(_ isEnabled: Bool) {
    self.isEnabled = isEnabled
    if !isEnabled { giveBack(TrustLevel.allCases) }
  }

  /// What a turn has leased, once it is committed and the bodies are read.
  mutating func admit(_ work: [Work]) {
    for one in work {
      lanes[one.delivery.proof, default: Lane()].bytes += one.delivery.size
      lanes[one.delivery.proof]?.queue.append(one)
    }
  }

  /// Leased rows that are not sent after all.
  mutating func giveBack(_ deliveries: [LeasedDelivery]) {
    settlements += deliveries.map { Settlement($0, .released) }
  }

  /// What a turn told that took so long.
  mutating func note(_ outcome: OutboxTurn.Outcome, of turn: OutboxTurn, took milliseconds: Int64, at now: Timestamp) {
    for proof in outcome.unfinished { lanes[proof, default: Lane()].mayBeDue = true }
    if outcome.needsSorting { needsSorting = true }
    for proof in turn.wanted.keys where turn.since[proof] == nil {
      // Where the server has to step over much that is gone, it is not to do so all the time.
      lanes[proof]?.looksWhollyAt = now + max(Self.wholePause, .milliseconds(20 * milliseconds))
    }
    for proof in lanes.keys {
      guard let reached = outcome.reached[proof] ?? lanes[proof]?.reached else { continue }
      lanes[proof]?.reached = min(reached, outcome.freedSince ?? reached)
    }
  }

  /// A sorting step was made.
  mutating func noteSorted(mayBeMore: Bool) {
    needsSorting = mayBeMore
    for proof in TrustLevel.allCases {
      lanes[proof, default: Lane()].mayBeDue = true
      lanes[proof]?.looksWhollyAt = Timestamp(.min)
    }
  }

  /// Keeps settlements that could not be written.
  ///
  /// Those whose lease has ended are left to whoever leases them next, but for deliveries: that a destination has taken a
  /// message is noted whoever holds its lease.
  ///
  /// - Returns: How many are lost.
  mutating func putBack(_ unwritten: [Settlement], until: Timestamp, at now: Timestamp) -> Int {
    pausedUntil = max(pausedUntil, until)
    let kept = unwritten.filter { $0.outcome == .delivered || $0.delivery.leasedUntil > now }
    settlements = kept + settlements
    return unwritten.count - kept.count
  }

  mutating func pause(until: Timestamp) { pausedUntil = max(pausedUntil, until) }

  /// The most messages of a lane whose refusals are counted.
  private static let mostRefused = 10_000

  /// Notes that a message was refused, if it was; how often it was refused after the destination took others of the lane.
  ///
  /// What is counted ends with the process: then a message is given up later.
  mutating func refusals(of work: Work, _ attempt: Attempt) -> Int {
    let (proof, sequence) = (work.delivery.proof, work.delivery.sequence)
    guard case .failed(let reason) = attempt, reason.isRefusal else {
      lanes[proof]?.refusals[sequence] = nil
      return 0
    }
    var lane = lanes[proof] ?? Lane()
    if lane.refusals.count >= Self.mostRefused { lane.refusals = [:] }
    var known = lane.refusals[sequence] ?? (count: 0, taken: lane.taken)
    if lane.taken > known.taken { known = (count: known.count + 1, taken: lane.taken) }
    lane.refusals[sequence] = known
    lanes[proof] = lane
    return known.count
  }

  /// Whether a destination seems to be up, when an attempt has changed that.
  struct Change: Equatable {
    let isDown: Bool
  }

  /// An attempt has ended, and this is to be noted of it.
  mutating func note(
    _ attempt: Attempt, of work: Work, _ outcome: Settlement.Outcome, within milliseconds: Int64, at now: Timestamp,
    random: (Int64) -> Int64
  ) -> Change? {
    settlements.append(Settlement(work.delivery, outcome))
    let proof = work.delivery.proof
    var lane = lanes[proof] ?? Lane()
    lane.bytes -= work.delivery.size
    let wasOpen = lane.circuit.isOpen
    switch attempt {
    case .delivered:
      lane.taken += 1
      lane.circuit.noteSuccess()
      lane.slots.noteAnswer(within: milliseconds, underWay: lane.underWay)
    case .failed(let reason):
      guard outcome != .released else { break }
      if reason.isOfDestination { lane.circuit.noteFailure(at: now, random: random) }
      if reason.asksForLess { lane.slots.noteFailure() }
    }
    if case .dead = outcome { lane.refusals[work.delivery.sequence] = nil }
    lane.underWay -= 1
    lane.ended += 1
    let isOpen = lane.circuit.isOpen
    lanes[proof] = lane
    // What is ahead would only fail as well; it is probed by one at a time.
    if isOpen { giveBack([proof]) }
    return isOpen == wasOpen ? nil : Change(isDown: isOpen)
  }

  // MARK: What to do next

  /// The next step, if there is one to make now; what it is to settle is the caller's from here on.
  mutating func next(at now: Timestamp) -> Step? {
    guard now >= pausedUntil else { return nil }
    if needsSorting, isEnabled, settlements.isEmpty { return .sort }
    var turn = settling()
    if isEnabled, !needsSorting {
      for proof in TrustLevel.allCases {
        var lane = lanes[proof] ?? Lane()
        // Where something is settled something may have become free; then it is looked in all lanes.
        // A body larger than what is left is leased all the same, so that it is sent one day: one of them, not one a turn.
        guard lane.mayBeDue || !turn.settlements.isEmpty, lane.bytes < mostBytes,
          case let wanted = lane.wanted(at: now), wanted > 0
        else { continue }
        turn.wanted[proof] = wanted
        turn.bytes[proof] = mostBytes - lane.bytes
        if now < lane.looksWhollyAt, let reached = lane.reached {
          turn.since[proof] = reached - Self.overlap
        }
        lane.mayBeDue = false
        lane.ended = 0
        lanes[proof] = lane
      }
    }
    return turn.settlements.isEmpty && turn.wanted.isEmpty ? nil : .turn(turn)
  }

  /// A turn of all that is to be settled, without leasing; it is the caller's from here on.
  mutating func settling() -> OutboxTurn {
    var turn = OutboxTurn()
    swap(&turn.settlements, &settlements)
    return turn
  }

  /// Leased rows for free slots: to be attempted now.
  mutating func start() -> [Work] {
    var started: [Work] = []
    for proof in TrustLevel.allCases { while let work = start(proof) { started.append(work) } }
    return started
  }

  /// The next leased row of a lane, if a slot is free for it.
  mutating func start(_ proof: TrustLevel) -> Work? {
    guard var lane = lanes[proof], lane.underWay < lane.slots.limit, let work = lane.queue.popFirst() else {
      return nil
    }
    lane.underWay += 1
    lanes[proof] = lane
    return work
  }

  /// Gives back what is leased and not begun.
  mutating func giveBack(_ classes: [TrustLevel]) {
    for proof in classes {
      guard let queue = lanes[proof]?.queue, !queue.isEmpty else { continue }
      lanes[proof]?.queue = []
      lanes[proof]?.bytes -= queue.reduce(0) { $0 + $1.delivery.size }
      giveBack(queue.map(\.delivery))
    }
  }
}
