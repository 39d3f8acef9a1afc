/// A port that accepts connections and never answers.
struct SilentListener {
  let port: UInt16
  private let descriptor: Int32

  /// - Parameter port: 0 for one that the kernel chooses.
  init(port: UInt16 = 0) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        guard unsafe bind(descriptor, $0, size) == 0, listen(descriptor, 128) == 0 else { return Int32(-1) }
        return unsafe getsockname(descriptor, $0, &size)
      }
    }
    guard status == 0 else {
      _ = Glibc.close(descriptor)
      throw DatabaseError(.misuse, "no port")
    }
    self.descriptor = descriptor
    self.port = UInt16(bigEndian: address.sin_port)
  }

  func close() { _ = Glibc.close(descriptor) }
}

extension TestDatabase {
  /// The messages that wait for the destination at a port.
  func waiting(for port: UInt16) async throws -> Int {
    try await count(
      "outbox o JOIN destinations d ON d.id = o.destination WHERE o.state = 0 AND d.url LIKE \("%:\(port)/%")")
  }
}
