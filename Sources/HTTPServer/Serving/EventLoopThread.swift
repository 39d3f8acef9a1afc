import Time

/// The thread of one loop: waits for something to happen, and lets the connections that it happened to proceed.
final class EventLoopThread {
  private let core: ServerCore
  private let loop: EventLoop
  private let tls: TLSContext?
  private let context: LoopContext
  private let poller = Poller()
  private var connections: [UInt64: HTTPConnection] = [:]
  private var lastID: UInt64 = EventLoopThread.wakeUpID
  /// The connections that stopped to let others have their turn, not because they would block; each has one turn.
  private var unfinished: Set<UInt64> = []
  private var nextSweep = Deadline.never
  private var end = End.none

  private enum End {
    case none
    /// Connections that wait for a request close from then on.
    case draining(Deadline)
    /// All that is left is to write answers, until then.
    case stopping(Deadline)
  }

  init(core: ServerCore, loop: EventLoop, tls: TLSContext?) {
    self.core = core
    self.loop = loop
    self.tls = tls
    context = LoopContext(core: core, loop: loop)
  }

  /// Serves until told to stop; returns how many requests had no answer then.
  func run() -> Int {
    precondition(poller.watch(loop.wakeUpDescriptor, as: Self.wakeUpID), "epoll does not take an eventfd")
    var unanswered = 0
    var events: [Poller.Event] = []
    while true {
      poller.wait(milliseconds: patience(), into: &events)
      let start = ContinuousClock.now
      defer { core.turns.note(.now - start, at: start) }
      if events.contains(where: { $0.id == Self.wakeUpID }) {
        for word in loop.words() { unanswered += obey(word) }
      }
      for event in events {
        guard let connection = connections[event.id] else { continue }
        connection.notice(event)
        proceed(connection, event.id)
      }
      for id in take(&unfinished) { proceed(id) }
      if nextSweep <= Deadline.now() { sweep() }
      if case .stopping(let deadline) = end, connections.isEmpty || deadline < Deadline.now() {
        connections = [:]
        return unanswered
      }
    }
  }

  /// How long the poller may wait.
  private func patience() -> Int32 {
    guard unfinished.isEmpty else { return 0 }
    if case .none = end, connections.isEmpty { return -1 }
    return Int32(Self.sweepEvery.milliseconds)
  }

  /// Returns how many requests are answered in their handlers' place.
  private func obey(_ word: EventLoop.Command) -> Int {
    switch word {
    case .adopt(let accepted): adopt(accepted)
    case .answered(let id): proceed(id)
    case .drain: end = .draining(.in(Self.sweepEvery))
    case .stop: return stop()
    }
    return 0
  }

  private func adopt(_ accepted: AcceptedConnection) {
    guard let parts = accepted.take() else { return }
    lastID += 1
    // Nothing is lost by watching before it is served: the thread that will hear of it is this one.
    guard poller.watch(parts.socket.descriptor, as: lastID) else { return }
    let slot = parts.slot
    let transport: any Transport
    if let tls {
      guard let secured = TLSTransport.make(tls, parts.socket) else { return }
      transport = secured
    } else {
      transport = PlainTransport(parts.socket)
    }
    if connections.isEmpty { nextSweep = .in(Self.sweepEvery) }
    connections[lastID] = HTTPConnection(lastID, transport, slot, peer: accepted.peer, context: context)
  }

  private func proceed(_ id: UInt64) {
    if let connection = connections[id] { proceed(connection, id) }
  }

  private func proceed(_ connection: HTTPConnection, _ id: UInt64) {
    switch connection.proceed() {
    case .waits: break
    case .hasMore: unfinished.insert(id)
    case .over: connections[id] = nil
    }
  }

  /// Ends what has taken too long.
  private func sweep() {
    let now = Deadline.now()
    nextSweep = connections.isEmpty ? .never : now + Self.sweepEvery
    let capacity = core.connections.capacity
    let crowded = PerCallerClass { capacity.isNearlyFull(for: $0) }
    var closesIdle = false
    if case .draining(let deadline) = end { closesIdle = deadline < now }
    for (id, connection) in connections {
      if closesIdle, connection.isIdle {
        connections[id] = nil
      } else if connection.expire(at: now, whenCrowded: crowded) {
        proceed(id)
      }
    }
  }

  private func stop() -> Int {
    end = .stopping(.in(Self.lastWords))
    nextSweep = .in(Self.sweepEvery)
    var unanswered = 0
    for (id, connection) in connections {
      if connection.stop() { unanswered += 1 }
      proceed(id)
    }
    return unanswered
  }

  private func take(_ ids: inout Set<UInt64>) -> Set<UInt64> {
    guard !ids.isEmpty else { return [] }
    defer { ids = [] }
    return ids
  }

  private static let wakeUpID: UInt64 = 0
  private static let sweepEvery = Interval.milliseconds(100)
  /// How long clients may take for the last answers.
  private static let lastWords = Interval.milliseconds(500)
}
