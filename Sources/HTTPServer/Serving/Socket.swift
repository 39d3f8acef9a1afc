import Glibc

/// A connected nonblocking TCP socket, closed with its one owner.
struct Socket: ~Copyable, Sendable {
  /// For registration and wrapping; only the socket itself closes it.
  let descriptor: Int32

  /// Takes over an open descriptor.
  ///
  /// Responses are written whole, so the system need not wait for more of them (TCP_NODELAY).
  init(takingOwnershipOf descriptor: Int32) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var on: Int32 = 1
    _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { close(descriptor) }

  borrowing func receive(into room: UnsafeMutableRawBufferPointer) -> Moved {
    while true {
      let count = unsafe recv(descriptor, room.baseAddress, room.count, 0)
      if count > 0 { return .bytes(count) }
      if count == 0 { return .ended }
      if errno != EINTR { return errno == EAGAIN ? .wouldBlock : .ended }
    }
  }

  /// - Parameter hasMore: whether other bytes follow immediately, so that the system may wait for them to fill a
  ///   packet.
  borrowing func send(_ bytes: UnsafeRawBufferPointer, hasMore: Bool) -> Moved {
    let flags = Int32(MSG_NOSIGNAL) | (hasMore ? Int32(MSG_MORE) : 0)
    while true {
      let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
      if count >= 0 { return .bytes(count) }
      if errno != EINTR { return errno == EAGAIN ? .wouldBlock : .ended }
    }
  }

  /// Ends the outgoing stream.
  borrowing func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }
}

enum Moved {
  case bytes(Int)
  /// The socket is not ready; the poller reports when that changes.
  case wouldBlock
  /// The other side has ended the stream, or the connection is broken.
  case ended
}
