import Glibc
import Runtime

/// One end of a connection whose other end is a client under test.
package actor RawConnection {
  private let executor = SerialQueueExecutor(label: "raw connection")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
  private let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  package func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Waits for the end of a request's head; what came of it, nothing when the client has gone.
  @discardableResult
  package func receiveHead() -> String {
    var seen: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while !String(decoding: seen, as: UTF8.self).contains("\r\n\r\n") {
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      seen += buffer.prefix(count)
    }
    return String(decoding: seen, as: UTF8.self)
  }
}

/// Runs `body` against a server that reads a request's head on each connection, does `answer`, and closes.
///
/// - Parameter readsHead: false leaves also that to `answer`.
package func withRawServer(
  readsHead: Bool = true, _ answer: @escaping @Sendable (RawConnection) async -> Void,
  _ body: (UInt16) async throws -> Void
) async throws {
  let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var name = sockaddr_in()
  name.sin_family = sa_family_t(AF_INET)
  name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  unsafe withUnsafeMutablePointer(to: &name) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
      _ = unsafe bind(listener, address, length)
      _ = listen(listener, 16)
      _ = unsafe getsockname(listener, address, &length)
    }
  }
  DedicatedThread.start {
    while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
      let connection = RawConnection(descriptor)
      Task {
        if readsHead { await connection.receiveHead() }
        await answer(connection)
      }
    }
    close(listener)
  }
  defer { _ = shutdown(listener, Int32(SHUT_RDWR)) }
  try await body(UInt16(bigEndian: name.sin_port))
}
