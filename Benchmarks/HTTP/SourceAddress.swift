import Glibc

/// The loopback address from which a connection is made.
struct SourceAddress {
  private let number: UInt32

  /// - Parameter number: as 0x7F000002 for 127.0.0.2.
  init(_ number: UInt32) { self.number = number }

  /// Binds a socket that is not connected yet; false when the system refuses.
  func bind(_ descriptor: Int32) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = number.bigEndian
    var one: Int32 = 1
    // The port is chosen when it connects, so that many connections fit.
    unsafe setsockopt(descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &one, socklen_t(MemoryLayout<Int32>.size))
    return unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
