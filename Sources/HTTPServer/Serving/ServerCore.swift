import Synchronization

final class ServerCore: Sendable {
  let handler: any HTTPHandler
  let limits: HTTPServerLimits
  let connections: ConnectionCount
  let tally = AtomicCounters()
  let turns = EventLoopStallTracker()
  let bodies: BodyBudget
  private let draining = Atomic(false)
  private let closing = Atomic(false)
  private let onEvent: @Sendable (HTTPServerEvent) -> Void

  init(
    handler: any HTTPHandler, configuration: HTTPServerConfiguration,
    onEvent: @escaping @Sendable (HTTPServerEvent) -> Void
  ) {
    self.handler = handler
    limits = configuration.limits
    self.onEvent = onEvent
    connections = ConnectionCount(configuration)
    bodies = BodyBudget(total: limits.bodiesInFlight, percent: limits.reservedPercent)
  }

  /// Whether every later response ends its connection.
  var isDraining: Bool { draining.load(ordering: .relaxed) }
  func startDraining() { draining.store(true, ordering: .relaxed) }

  var isClosing: Bool { closing.load(ordering: .sequentiallyConsistent) }
  func startClosing() { closing.store(true, ordering: .sequentiallyConsistent) }

  func capacity(_ capacity: HTTPCapacity) -> PartitionedCapacity {
    switch capacity {
    case .connections: connections.capacity
    case .bodies: bodies.capacity
    }
  }

  func report(_ event: HTTPServerEvent) { onEvent(event) }

  func refused(_ reason: HTTPRejection, _ peer: PeerAddress, detail: String = "") {
    tally.refused(reason)
    onEvent(.refused(reason, peer: peer, detail: detail))
  }

  func refused(_ fault: RequestParseError, _ peer: PeerAddress) {
    tally.refused(fault.refusal)
    tally.refused(fault)
    onEvent(.refused(fault.refusal, peer: peer, detail: fault.rawValue))
  }
}
