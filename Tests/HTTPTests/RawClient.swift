/// A bare TCP connection to a server under test: says what no HTTP client would, as slowly as it likes.
actor RawClient {
  private let executor = SerialQueueExecutor(label: "raw client")
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
  private var descriptor: Int32

  struct Failure: Error { let reason: String }

  /// Every read gives up after ten seconds.
  ///
  /// - Parameter last: the last part of the address to come from, 127.0.0.x.
  init(port: UInt16, from last: UInt32 = 1) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.descriptor = descriptor
    var timeout = timeval(tv_sec: 10, tv_usec: 0)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var own = sockaddr_in()
    own.sin_family = sa_family_t(AF_INET)
    own.sin_addr.s_addr = UInt32(0x7F00_0000 + last).bigEndian
    _ = unsafe withUnsafePointer(to: &own) { own in
      unsafe own.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = unsafe withUnsafePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // Not closed here: whoever throws with everything set is deinitialised, and a descriptor closed twice is somebody else's.
    guard status == 0 else { throw Failure(reason: unsafe String(cString: strerror(errno))) }
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  /// False when the other side takes no more.
  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        let start = unsafe buffer.baseAddress.map { unsafe $0 + sent }
        return unsafe Glibc.send(descriptor, start, buffer.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// The next bytes; empty at the end of the stream, or when it was reset.
  func receive() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
    return Array(buffer.prefix(max(0, count)))
  }

  /// Everything up to the end of the stream.
  func receiveAll() -> String {
    var bytes: [UInt8] = []
    while true {
      let part = receive()
      guard !part.isEmpty else { return String(decoding: bytes, as: UTF8.self) }
      bytes += part
    }
  }

  /// Everything up to and including `text`, or up to the end of the stream.
  func receive(until text: String) -> String {
    var all = ""
    while !all.contains(text) {
      let part = receive()
      if part.isEmpty { break }
      all += String(decoding: part, as: UTF8.self)
    }
    return all
  }

  /// Says that nothing more will come, and goes on listening.
  func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Goes without a word: the other side gets a reset.
  func vanish() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }
}
