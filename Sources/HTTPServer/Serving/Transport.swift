/// A connection's bytes, in clear text or through TLS.
///
/// Only the thread of the connection's loop uses it. The socket closes with the last reference.
protocol Transport: AnyObject {
  /// Whether a read that does not fill the buffer means that no more bytes have arrived.
  var endsShortReads: Bool { get }
  func read(into room: UnsafeMutableRawBufferPointer) -> Moved
  /// Writes as much as possible without waiting.
  ///
  /// - Parameter hasMore: whether other bytes follow immediately.
  func write(_ bytes: UnsafeRawBufferPointer, hasMore: Bool) -> Moved
  /// Ends the outgoing stream.
  func finish()
  /// Reads and discards bytes after `finish`.
  func discard(into room: UnsafeMutableRawBufferPointer) -> Moved
}

final class PlainTransport: Transport {
  private let socket: Socket

  init(_ socket: consuming Socket) { self.socket = socket }

  /// A short read is how epoll(7) lets an edge-triggered reader find the end.
  var endsShortReads: Bool { true }

  func read(into room: UnsafeMutableRawBufferPointer) -> Moved { unsafe socket.receive(into: room) }

  func write(_ bytes: UnsafeRawBufferPointer, hasMore: Bool) -> Moved { unsafe socket.send(bytes, hasMore: hasMore) }

  func finish() { socket.finishSending() }

  func discard(into room: UnsafeMutableRawBufferPointer) -> Moved { unsafe socket.receive(into: room) }
}
