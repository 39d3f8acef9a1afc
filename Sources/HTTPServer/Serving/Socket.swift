import Glibc

/// A connected TCP socket that never blocks; closed when its one owner lets go of it.
struct Socket: ~Copyable, Sendable {
  /// For those who register or wrap it; only the socket itself closes it.
  let descriptor: Int32

  /// Takes over an open descriptor.
  ///
  /// Answers are written whole, so nothing is gained by the system's waiting for more of them (TCP_NODELAY).
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

  /// - Parameter hasMore: whether other bytes follow at once, so that the system may wait for them to fill a packet.
  borrowing func send(_ bytes: UnsafeRawBufferPointer, hasMore: Bool) -> Moved {
    let flags = Int32(MSG_NOSIGNAL) | (hasMore ? Int32(MSG_MORE) : 0)
    while true {
      let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
      if count >= 0 { return .bytes(count) }
      if errno != EINTR { return errno == EAGAIN ? .wouldBlock : .ended }
    }
  }

  /// Tells the other side that nothing more will be sent.
  borrowing func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }
}

/// What became of an attempt to move bytes.
enum Moved {
  case bytes(Int)
  /// Nothing can be moved now; the poller reports when that changes.
  case wouldBlock
  /// The other side has ended the stream, or the connection is broken.
  case ended
}
