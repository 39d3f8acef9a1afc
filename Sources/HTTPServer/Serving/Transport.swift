#if SWITCHYARD_OWN_LOOP
  import Glibc

  /// What became of an attempt to move bytes.
  enum Moved {
    case bytes(Int)
    /// Nothing now; the poller will say when.
    case wouldBlock
    /// The other side has ended the stream, or it broke.
    case ended
  }

  /// A connection's bytes, in clear or through TLS (`TLSSession`, over `SSL_read_ex` and `SSL_write_ex` on the same
  /// descriptor; its WANT_READ and WANT_WRITE are `wouldBlock`: whichever comes, all is tried again).
  protocol Transport: AnyObject {
    func read(into room: UnsafeMutableRawBufferPointer) -> Moved
    func write(_ bytes: UnsafeRawBufferPointer) -> Moved
    /// Says that nothing more will be written.
    func finish()
  }

  final class PlainTransport: Transport {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    func read(into room: UnsafeMutableRawBufferPointer) -> Moved {
      unsafe moved(recv(descriptor, room.baseAddress, room.count, 0))
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Moved {
      unsafe moved(send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)))
    }

    func finish() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    private func moved(_ count: Int) -> Moved {
      if count > 0 { return .bytes(count) }
      return count < 0 && (errno == EAGAIN || errno == EINTR) ? .wouldBlock : .ended
    }
  }
#endif
