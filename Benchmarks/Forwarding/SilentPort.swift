import Glibc

/// A port that takes connections and never answers: a back end that hangs.
final class SilentPort: Sendable {
  let number: UInt16
  private let descriptor: Int32

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let status = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        guard unsafe bind(descriptor, $0, size) == 0, listen(descriptor, 1_024) == 0 else { return Int32(-1) }
        return unsafe getsockname(descriptor, $0, &size)
      }
    }
    guard status == 0 else { throw BenchmarkError("no port that is silent") }
    number = UInt16(bigEndian: address.sin_port)
  }

  deinit { close(descriptor) }
}
