import COpenSSL

/// A connection through TLS.
///
/// OpenSSL reads and writes the socket itself. It does the handshake with the first read. Every report of the poller
/// retries all steps, so OpenSSL's own state does not matter. It writes with write(2), which can raise SIGPIPE: the
/// loop's thread has every signal blocked.
@safe final class TLSTransport: Transport {
  private let session: OpaquePointer
  private let socket: Socket

  /// Returns `nil`, and closes the socket, without memory for a session.
  static func make(_ context: TLSContext, _ socket: consuming Socket) -> TLSTransport? {
    guard let session = unsafe context.session() else { return nil }
    guard unsafe SSL_set_fd(session, socket.descriptor) == 1 else {
      unsafe SSL_free(session)
      return nil
    }
    return unsafe TLSTransport(takingOwnershipOf: session, socket)
  }

  private init(takingOwnershipOf session: OpaquePointer, _ socket: consuming Socket) {
    unsafe self.session = session
    self.socket = socket
  }

  /// The session knows the descriptor, so it is freed first.
  deinit { unsafe SSL_free(session) }

  var endsShortReads: Bool { false }

  func read(into room: UnsafeMutableRawBufferPointer) -> Moved {
    ERR_clear_error()
    var count = 0
    let status = unsafe SSL_read_ex(session, room.baseAddress, room.count, &count)
    if status == 1 { unsafe shim_tls_forget_records(session) }
    return moved(status, count)
  }

  func write(_ bytes: UnsafeRawBufferPointer, hasMore: Bool) -> Moved {
    ERR_clear_error()
    var count = 0
    let status = unsafe SSL_write_ex(session, bytes.baseAddress, bytes.count, &count)
    return moved(status, count)
  }

  func finish() {
    ERR_clear_error()
    if unsafe SSL_is_init_finished(session) == 1 { unsafe SSL_shutdown(session) }
    ERR_clear_error()
    socket.finishSending()
  }

  func discard(into room: UnsafeMutableRawBufferPointer) -> Moved { unsafe socket.receive(into: room) }

  private func moved(_ status: Int32, _ count: Int) -> Moved {
    if status == 1 { return .bytes(count) }
    switch unsafe SSL_get_error(session, status) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
    case _:
      // The queue belongs to the thread: an error of this connection must not be read as one of the next.
      ERR_clear_error()
      return .ended
    }
  }
}
