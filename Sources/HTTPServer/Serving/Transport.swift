/// A connection's bytes, in clear or through TLS.
///
/// Only the thread of the connection's loop uses it. When the last reference goes, the socket closes.
protocol Transport: AnyObject {
  /// Whether a read of less than there was room for means that nothing more has arrived.
  var endsShortReads: Bool { get }
  func read(into room: UnsafeMutableRawBufferPointer) -> Moved
  /// Writes as much as goes without waiting.
  /// - Parameter hasMore: whether other bytes follow at once.
  func write(_ bytes: UnsafeRawBufferPointer, hasMore: Bool) -> Moved
  /// Tells the other side that nothing more will be written.
  func finish()
  /// Reads what is only to be thrown away, after `finish`.
  func discard(into room: UnsafeMutableRawBufferPointer) -> Moved
}

/// A connection in clear.
final class PlainTransport: Transport {
  private let socket: Socket

  init(_ socket: consuming Socket) { self.socket = socket }

  /// Measuring against the room is how epoll(7) has an edge-triggered reader find the end.
  var endsShortReads: Bool { true }

  func read(into room: UnsafeMutableRawBufferPointer) -> Moved { unsafe socket.receive(into: room) }

  func write(_ bytes: UnsafeRawBufferPointer, hasMore: Bool) -> Moved { unsafe socket.send(bytes, hasMore: hasMore) }

  func finish() { socket.finishSending() }

  func discard(into room: UnsafeMutableRawBufferPointer) -> Moved { unsafe socket.receive(into: room) }
}
