import Synchronization

/// A connection between the thread that accepted it and the loop that serves it.
///
/// Without a loop it closes with the last reference.
final class AcceptedConnection: Sendable {
  struct Parts: ~Copyable, Sendable {
    let socket: Socket
    let slot: ConnectionSlot
  }

  let peer: PeerAddress
  private let parts: Mutex<Parts?>

  init(_ socket: consuming Socket, _ slot: consuming ConnectionSlot, peer: PeerAddress) {
    parts = Mutex(Parts(socket: socket, slot: slot))
    self.peer = peer
  }

  func take() -> Parts? { parts.withLock { $0.take() } }
}
