import Glibc
import Runtime

/// Connections of strangers on which many small requests are sent ahead of their answers.
enum PipelinedConnections {
  private static let count = 8
  private static let atOnce = 100
  private static let pause: UInt32 = 20_000

  /// Sends `atOnce` requests fifty times a second on each connection, as far as answers are read; how many were sent.
  static func attack(_ port: UInt16, from sources: [UInt32], seconds: Double) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      DedicatedThread.start {
        continuation.resume(with: Result { try run(port, sources, seconds) })
      }
    }
  }

  private static func run(_ port: UInt16, _ sources: [UInt32], _ seconds: Double) throws -> Int {
    let connections = try (0..<count).map { try Socket(port, from: sources[$0 % sources.count]) }
    let requests = Array(
      String(repeating: "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", count: atOnce).utf8)
    var part = [UInt8](repeating: 0, count: 64 << 10)
    let end = ContinuousClock.now + .seconds(seconds)
    var sent = 0
    while ContinuousClock.now < end {
      for connection in connections {
        let written = unsafe requests[connection.offset...].withUnsafeBytes {
          unsafe send(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        connection.offset += max(0, written)
        if connection.offset == requests.count { (sent, connection.offset) = (sent + atOnce, 0) }
        while unsafe recv(connection.descriptor, &part, part.count, Int32(MSG_DONTWAIT)) > 0 {}
      }
      usleep(pause)
    }
    return sent
  }

  private final class Socket {
    let descriptor: Int32
    /// How much of the requests is sent.
    var offset = 0

    init(_ port: UInt16, from source: UInt32) throws {
      descriptor = HostileConnections.connected(port, from: source)
      guard descriptor >= 0 else { throw BenchmarkError("no connection for pipelined requests") }
    }

    deinit { close(descriptor) }
  }
}
