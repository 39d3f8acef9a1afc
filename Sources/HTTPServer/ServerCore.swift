import Synchronization

/// What all threads of one server share.
final class ServerCore: Sendable {
  let handler: any HTTPHandler
  let limits: HTTPServerLimits
  let table: ConnectionTable
  let tally = Tally()
  let bodies: BodyBudget
  /// Requests whose handler has begun and whose answer the library does not yet have.
  ///
  /// While it is not 0 the library must not be stopped: it aborts the process when a connection is still suspended.
  let unanswered = Atomic(0)
  private let draining = Atomic(false)
  private let closing = Atomic(false)
  private let onEvent: @Sendable (HTTPServerEvent) -> Void

  init(
    handler: any HTTPHandler, limits: HTTPServerLimits, onEvent: @escaping @Sendable (HTTPServerEvent) -> Void
  ) {
    self.handler = handler
    self.limits = limits
    self.onEvent = onEvent
    table = ConnectionTable(limits: limits)
    bodies = BodyBudget(limit: limits.bodiesInFlight)
  }

  /// Every answer from now on ends its connection.
  var isDraining: Bool { draining.load(ordering: .relaxed) }
  func startDraining() { draining.store(true, ordering: .relaxed) }

  /// No handler begins any more.
  var isClosing: Bool { closing.load(ordering: .sequentiallyConsistent) }
  func startClosing() { closing.store(true, ordering: .sequentiallyConsistent) }

  func report(_ event: HTTPServerEvent) { onEvent(event) }

  func refused(_ reason: HTTPRefusal, _ peer: PeerAddress) {
    tally.refused(reason)
    onEvent(.refused(reason, peer: peer))
  }
}
