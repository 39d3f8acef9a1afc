import CMicroHTTPD
import Glibc
import Runtime
import Synchronization
import Time

/// The thread that lets connections in, cuts those whose time is up, and closes the house in an orderly way.
final class FrontDoor: Sendable {
  private static let sweepEvery = Interval.milliseconds(100)

  private let core: ServerCore
  private let workers: [Worker]
  private let stopWithin: Interval
  private let wakeUp = WakeUp()
  private let stopping = Atomic(false)
  private let finish: @Sendable () -> Void

  /// `finish` is called once, when everything is closed.
  init(core: ServerCore, workers: [Worker], stopWithin: Interval, finish: @escaping @Sendable () -> Void) {
    self.core = core
    self.workers = workers
    self.stopWithin = stopWithin
    self.finish = finish
  }

  /// Begins to close; may be called from anywhere, any number of times.
  func stop() {
    stopping.store(true, ordering: .releasing)
    wakeUp.signal()
  }

  /// The thread's body: returns when everything is closed.
  func keep(_ listener: consuming Listener) {
    serve(listener)
    drain()
    let unfinished = close()
    for worker in workers { worker.stop() }
    core.table.removeAll()
    core.report(.stopped(unfinished: unfinished))
    finish()
  }

  // MARK: Serving

  /// Returns when told to stop; the listening socket is closed by then, so that new clients are refused.
  private func serve(_ listener: consuming Listener) {
    var turn = 0
    var nextSweep = Deadline.now()
    var mayAcceptFrom = Deadline.now()
    while !stopping.load(ordering: .acquiring) {
      let accepting = mayAcceptFrom <= Deadline.now()
      let isQuiet = core.table.count == 0 && !core.bodies.isHigh
      wait(for: accepting ? listener.descriptor : -1, patiently: accepting && isQuiet)
      if accepting, !accept(from: listener, &turn) { mayAcceptFrom = .in(Self.sweepEvery) }
      if nextSweep <= Deadline.now() {
        cutOverdue()
        // The allocator would keep a flood's memory for ever: it is in pieces too small to be unmapped by themselves.
        if core.bodies.ebbs() { switchyard_return_free_memory() }
        nextSweep = .in(Self.sweepEvery)
      }
    }
    // Who has already been connected by the system would be reset.
    _ = accept(from: listener, &turn)
  }

  /// Until a client knocks, somebody calls, or it is time to sweep.
  private func wait(for listener: Int32, patiently: Bool) {
    var descriptors = [
      pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&descriptors, 2, patiently ? -1 : Int32(Self.sweepEvery.milliseconds))
  }

  /// False when the system hands over no more connections for now.
  private func accept(from listener: borrowing Listener, _ turn: inout Int) -> Bool {
    do throws(Listener.Errno) {
      for _ in 0..<64 {
        guard let (descriptor, peer) = try listener.accept() else { return true }
        admit(descriptor, peer, &turn)
      }
      return true
    } catch {
      core.report(.acceptFailed(reason: error.reason))
      return false
    }
  }

  private func admit(_ descriptor: Int32, _ peer: PeerAddress, _ turn: inout Int) {
    let connection = OpenConnection(
      descriptor: descriptor, peer: peer, deadline: .in(core.limits.receive))
    if let reason = core.table.insert(connection) {
      core.refused(reason, peer)
      Self.turnAway(descriptor)
      return
    }
    core.tally.connected()
    turn = (turn + 1) % workers.count
    if !workers[turn].add(connection) { core.table.remove(connection) }
  }

  /// Says why in HTTP and hangs up. (Over TLS this is no answer but an end, which is all there is time for.)
  private static func turnAway(_ descriptor: Int32) {
    let answer = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    var bytes = Array(answer.utf8)
    _ = unsafe send(descriptor, &bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    Glibc.close(descriptor)
  }

  private func cutOverdue() {
    let now = Deadline.now()
    let cut = core.table.cut { connection -> HTTPRefusal?? in
      switch connection.overdue(at: now) {
      case .waiting: .some(nil)
      case .receiving: .slowRequest
      case .sending: .slowReader
      case .answering, nil: nil
      }
    }
    for (connection, reason) in cut {
      if let reason { core.refused(reason, connection.peer) }
    }
    for exchange in core.table.exchanges(when: { $0.overdue(at: now) })
    where exchange.takeOver(with: HTTPResponse(status: 503)) {
      core.refused(.unanswered, exchange.connection.peer)
    }
  }

  // MARK: Closing

  /// Lets running requests finish, within the time given.
  private func drain() {
    core.startDraining()
    let end = Deadline.in(stopWithin)
    // Requests that are already on their way on kept connections get a moment to show.
    let patience = min(end, .in(Self.sweepEvery))
    while core.table.count > 0, Deadline.now() < end {
      if patience < Deadline.now() { cutIdle() }
      cutOverdue()
      pause()
    }
  }

  /// Answers what is still open in the handlers' place; returns how many did not finish.
  private func close() -> Int {
    core.startClosing()
    var unfinished = 0
    while core.unanswered.load(ordering: .sequentiallyConsistent) > 0 {
      for exchange in core.table.exchanges(when: { $0.phase() })
      where exchange.takeOver(with: HTTPResponse(status: 503)) {
        core.refused(.stopping, exchange.connection.peer)
        unfinished += 1
      }
      pause()
    }
    let end = Deadline.in(.milliseconds(500))
    while unfinished > 0, core.table.count > 0, Deadline.now() < end { pause() }
    return unfinished
  }

  private func cutIdle() {
    _ = core.table.cut { connection -> Bool? in
      if case .waiting = connection.phase() { true } else { nil }
    }
  }

  private func pause() { usleep(2_000) }
}
