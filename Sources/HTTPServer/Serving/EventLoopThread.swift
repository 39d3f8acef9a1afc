import Time

/// The thread of one loop: waits for events, and lets their connections proceed.
final class EventLoopThread {
  private let core: ServerCore
  private let loop: EventLoop
  private let tls: TLSContext?
  private let context: LoopContext
  private let poller = Poller()
  private var connections: [UInt64: HTTPConnection] = [:]
  private var lastID: UInt64 = EventLoopThread.wakeUpID
  /// The connections that yielded to others, not because they would block; each gets one pass.
  private var unfinished: Set<UInt64> = []
  private var nextSweep = Deadline.never
  private var end = End.none

  private enum End {
    case none
    /// Connections that wait for a request close at that time.
    case draining(Deadline)
    /// Only responses are written, until that time.
    case stopping(Deadline)
  }

  init(core: ServerCore, loop: EventLoop, tls: TLSContext?) {
    self.core = core
    self.loop = loop
    self.tls = tls
    context = LoopContext(core: core, loop: loop)
  }

  /// Serves until stopped; returns the number of requests without a response then.
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

  private func patience() -> Int32 {
    guard unfinished.isEmpty else { return 0 }
    if case .none = end, connections.isEmpty { return -1 }
    return Int32(Self.sweepEvery.milliseconds)
  }

  /// Returns the number of requests that are answered instead of their handlers.
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
    // Watching before serving loses no event, because this thread receives them.
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
  /// The time for clients to receive the last responses.
  private static let lastWords = Interval.milliseconds(500)
}
