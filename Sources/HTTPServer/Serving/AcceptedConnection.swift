import Synchronization

/// A connection on its way from the thread that accepted it to the loop that serves it.
///
/// If no loop takes it, it closes with the last reference.
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

  /// Hands over the socket and its slot, once.
  func take() -> Parts? { parts.withLock { $0.take() } }
}
