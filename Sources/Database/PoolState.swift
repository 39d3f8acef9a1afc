import Time

/// The state of a pool: lent connections and waiting callers.
///
/// It decides, and `Pool` acts.
struct PoolState {
  typealias Ticket = UInt64
  typealias Answer = Result<Turn, DatabaseError>
  typealias Waiter = CheckedContinuation<Answer, Never>

  /// The permission that a caller gets.
  enum Turn: Sendable {
    case open
    /// A connection with its idle time.
    ///
    /// It is suspect if another one was found broken since.
    case use(Connection, since: Interval, isSuspect: Bool)
  }

  enum Reply {
    case turn(Turn)
    case wait(Ticket)
    case refused(DatabaseError)
  }

  enum Action {
    case none
    case hand(Turn, Waiter)
    case empty(CheckedContinuation<Void, Never>)
  }

  /// A position in the queue.
  ///
  /// Between `ask` and `wait` there may be an answer but no continuation yet.
  private struct Place {
    let ticket: Ticket
    let isUrgent: Bool
    var waiter: Waiter?
    var answer: Answer?
  }

  private let size: Int
  private let waiterLimit: Int
  private var idle: [(connection: Connection, since: Interval)] = []
  /// Lent, or being opened.
  private var lent = 0
  private var queue: [Place] = []
  private var lastTicket: Ticket = 0
  private var whenEmpty: CheckedContinuation<Void, Never>?
  private var lastBroken: Interval?
  private var counted = Pool.Figures()
  private(set) var isClosed = false

  init(size: Int, waiterLimit: Int) {
    self.size = size
    self.waiterLimit = waiterLimit
  }

  var figures: Pool.Figures {
    var figures = counted
    figures.inUse = lent
    figures.idle = idle.count
    figures.waiting = queue.count { $0.answer == nil }
    return figures
  }

  /// Returns the most recently used idle connection, or a free slot, or a position in the queue behind equally urgent
  /// callers.
  mutating func ask(isUrgent: Bool = false) -> Reply {
    guard !isClosed else { return .refused(DatabaseError(.closed, "the pool is closed")) }
    if lent < size {
      lent += 1
      if let last = idle.popLast() { return .turn(use(last.connection, since: last.since)) }
      return .turn(.open)
    }
    guard queue.count < waiterLimit else {
      counted.timedOut += 1
      return .refused(DatabaseError(.timedOut, "\(waiterLimit) callers wait for a connection already"))
    }
    lastTicket += 1
    queue.append(Place(ticket: lastTicket, isUrgent: isUrgent))
    return .wait(lastTicket)
  }

  /// Stores the continuation at the position, or returns the answer that came before it.
  mutating func wait(_ ticket: Ticket, _ waiter: Waiter) -> Answer? {
    guard let index = queue.firstIndex(where: { $0.ticket == ticket }) else {
      return .failure(DatabaseError(.closed, "the pool is closed"))
    }
    guard let answer = queue[index].answer else {
      queue[index].waiter = waiter
      return nil
    }
    queue.remove(at: index)
    return answer
  }

  mutating func giveUp(_ ticket: Ticket, _ error: DatabaseError, isTimeout: Bool) -> Waiter? {
    guard let index = queue.firstIndex(where: { $0.ticket == ticket }), queue[index].answer == nil else { return nil }
    if isTimeout { counted.timedOut += 1 }
    if let waiter = queue[index].waiter {
      queue.remove(at: index)
      return waiter
    }
    queue[index].answer = .failure(error)
    return nil
  }

  mutating func opened() { counted.created += 1 }

  mutating func returned(_ connection: Connection, at now: Interval) -> Action {
    next(use(connection, since: now))
  }

  /// - Parameter isBroken: whether it was broken instead of too old, so that idle ones may be broken too.
  mutating func discarded(isBroken: Bool, at now: Interval) -> Action {
    counted.discarded += 1
    if isBroken { lastBroken = now }
    return next(.open)
  }

  mutating func failedToOpen() -> Action { next(.open) }

  mutating func close() -> (idle: [Connection], waiters: [Waiter]) {
    isClosed = true
    let connections = idle.map(\.connection)
    idle = []
    let waiters = queue.compactMap(\.waiter)
    for index in queue.indices where queue[index].answer == nil {
      queue[index].answer = .failure(DatabaseError(.closed, "the pool is closed"))
    }
    queue.removeAll { $0.waiter != nil }
    return (connections, waiters)
  }

  /// Whether no connection is lent.
  ///
  /// Otherwise it stores the continuation until then.
  mutating func whenEmpty(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
    guard lent > 0 else { return true }
    whenEmpty = continuation
    return false
  }

  private func use(_ connection: Connection, since: Interval) -> Turn {
    .use(connection, since: since, isSuspect: lastBroken.map { since <= $0 } ?? false)
  }

  /// Passes a freed connection or slot to the first waiting caller, urgent ones first, or stores it.
  private mutating func next(_ turn: Turn) -> Action {
    let urgent = queue.firstIndex { $0.isUrgent && $0.answer == nil }
    if let index = urgent ?? queue.firstIndex(where: { $0.answer == nil }) {
      guard let waiter = queue[index].waiter else {
        queue[index].answer = .success(turn)
        return .none
      }
      queue.remove(at: index)
      return .hand(turn, waiter)
    }
    lent -= 1
    if case .use(let connection, let since, _) = turn, !isClosed { idle.append((connection, since)) }
    guard lent == 0, let continuation = whenEmpty else { return .none }
    whenEmpty = nil
    return .empty(continuation)
  }
}
