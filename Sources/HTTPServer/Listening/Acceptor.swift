import Glibc
import Runtime
import Synchronization
import Time

/// The thread that accepts connections, and stops the server gracefully.
final class Acceptor: Sendable {
  private static let sweepEvery = Interval.milliseconds(100)

  private let core: ServerCore
  private let loops: [EventLoop]
  private let stopWithin: Interval
  private let wakeUp = EventFD()
  private let stopping = Atomic(false)
  private let finish: @Sendable () -> Void

  /// `finish` is called once, when everything is closed.
  init(core: ServerCore, loops: [EventLoop], stopWithin: Interval, finish: @escaping @Sendable () -> Void) {
    self.core = core
    self.loops = loops
    self.stopWithin = stopWithin
    self.finish = finish
  }

  /// Begins to close; may be called from any thread, any number of times.
  func stop() {
    stopping.store(true, ordering: .releasing)
    wakeUp.signal()
  }

  func keep(_ listener: consuming Listener) {
    serve(listener)
    drain()
    let unfinished = close()
    core.report(.stopped(unfinished: unfinished))
    finish()
  }

  // MARK: Serving

  /// Returns after a stop; the listening socket is closed by then, so that new clients are rejected.
  private func serve(_ listener: consuming Listener) {
    var turn = 0
    var nextSweep = Deadline.now()
    var mayAcceptFrom = Deadline.now()
    var watch = CapacityMonitor()
    while !stopping.load(ordering: .acquiring) {
      let accepting = mayAcceptFrom <= Deadline.now()
      let isQuiet = core.connections.open == 0 && !core.bodies.isHigh
      wait(for: accepting ? listener.descriptor : -1, patiently: accepting && isQuiet)
      if accepting, !accept(from: listener, &turn) { mayAcceptFrom = .in(Self.sweepEvery) }
      if nextSweep <= Deadline.now() {
        // The allocator would never release a flood's memory, whose pieces are too small to unmap separately.
        if core.bodies.ebbs() { ProcessMemory.giveBack() }
        for event in watch.report(core, at: .now()) { core.report(event) }
        nextSweep = .in(Self.sweepEvery)
      }
    }
    // Otherwise the system would reset clients that it has already connected.
    _ = accept(from: listener, &turn)
  }

  private func wait(for listener: Int32, patiently: Bool) {
    var descriptors = [
      pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&descriptors, 2, patiently ? -1 : Int32(Self.sweepEvery.milliseconds))
  }

  /// Returns false when the system has no more connections now.
  private func accept(from listener: borrowing Listener, _ turn: inout Int) -> Bool {
    do throws(Listener.Errno) {
      for _ in 0..<64 {
        guard let accepted = try listener.accept() else { return true }
        admit(accepted, &turn)
      }
      return true
    } catch {
      core.report(.acceptFailed(reason: error.reason))
      return false
    }
  }

  private func admit(_ accepted: consuming Listener.Accepted, _ turn: inout Int) {
    let peer = accepted.peer
    do throws(HTTPRejection) {
      let slot = try ConnectionSlot(peer, of: core.connections)
      core.tally.connected()
      turn = (turn + 1) % loops.count
      loops[turn].tell(.adopt(AcceptedConnection(accepted.socket, slot, peer: peer)))
    } catch {
      core.refused(error, peer)
      Self.turnAway(accepted.socket)
    }
  }

  /// Sends the reason in HTTP and closes.
  ///
  /// Over TLS the client sees only the end, because a handshake would take too long. Received bytes are read, since
  /// unread bytes would reset the connection before the client reads the response.
  private static func turnAway(_ socket: consuming Socket) {
    let answer = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    _ = unsafe Array(answer.utf8).withUnsafeBytes { unsafe socket.send($0, hasMore: false) }
    socket.finishSending()
    _ = unsafe withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { unsafe socket.receive(into: $0) }
  }

  // MARK: Closing

  private func drain() {
    core.startDraining()
    for loop in loops { loop.tell(.drain) }
    let end = Deadline.in(stopWithin)
    while core.connections.open > 0, Deadline.now() < end { pause() }
  }

  /// Responds instead of the handlers that are still running; returns their number.
  private func close() -> Int {
    core.startClosing()
    for loop in loops { loop.tell(.stop) }
    return loops.reduce(0) { $0 + $1.join() }
  }

  private func pause() { usleep(2_000) }
}
