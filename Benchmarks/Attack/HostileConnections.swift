import Glibc
import Runtime
import Synchronization

/// Connections of strangers that hold what they can: some say nothing, others begin a large upload and stop.
///
/// One that is closed is opened again, `rate` of them a second, until `end`.
final class HostileConnections: Sendable {
  /// Connections opened a second.
  static let rate = 100
  private static let pause: UInt32 = 100_000

  private static let silent = 400
  private static let uploads = 40
  private static let upload =
    Array(
      "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3145728\r\n\r\n"
        .utf8)
    + [UInt8](repeating: 0x20, count: 65_536)

  private struct State {
    var isOver = false
    var opened = 0
    var hasEnded = false
  }

  private let state: Mutex<State>

  init(port: UInt16, from sources: [UInt32]) throws {
    state = Mutex(State())
    DedicatedThread.start { [self] in hold(port, sources) }
  }

  /// Closes them; how many were opened.
  func end() -> Int {
    state.withLock { $0.isOver = true }
    while !state.withLock({ $0.hasEnded }) { usleep(10_000) }
    return state.withLock { $0.opened }
  }

  private func hold(_ port: UInt16, _ sources: [UInt32]) {
    var open = [Int32](repeating: -1, count: Self.silent + Self.uploads)
    var byte: UInt8 = 0
    var start = 0
    while !state.withLock({ $0.isOver }) {
      var left = Self.rate * Int(Self.pause) / 1_000_000
      for place in open.indices where left > 0 {
        let index = (start + place) % open.count
        if open[index] >= 0 {
          let count = unsafe recv(open[index], &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK))
          if count < 0, errno == EAGAIN { continue }
          close(open[index])
        }
        left -= 1
        if left == 0 { start = index + 1 }
        open[index] = Self.connected(port, from: sources[index % sources.count])
        guard open[index] >= 0 else { continue }
        state.withLock { $0.opened += 1 }
        if index >= Self.silent {
          _ = unsafe send(open[index], Self.upload, Self.upload.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
      }
      usleep(Self.pause)
    }
    for descriptor in open where descriptor >= 0 { close(descriptor) }
    state.withLock { $0.hasEnded = true }
  }

  /// A connected socket; -1 when there is none.
  static func connected(_ port: UInt16, from source: UInt32) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return -1 }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    guard SourceAddress(source).bind(descriptor) else {
      close(descriptor)
      return -1
    }
    let isConnected = unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    if !isConnected { close(descriptor) }
    return isConnected ? descriptor : -1
  }
}
