import Glibc

/// One connection of the load generator: sends a request that is ready made, reads the answer, no more.
///
/// Keep-alive always; an answer must have a Content-Length, as ours have.
struct LoadConnection: ~Copyable {
  enum Progress {
    /// Waits for the socket.
    case waiting
    case answered(status: Int)
    case broken
  }

  let descriptor: Int32
  /// What is being sent or was sent; nil between two requests.
  private(set) var request: [UInt8]?
  /// When the request was due, in nanoseconds.
  private(set) var due: UInt64 = 0
  private var sent = 0
  private var received: [UInt8] = []
  /// Where what is read arrives: long enough for an answer of verifyReceipt at once.
  private var part = [UInt8](repeating: 0, count: 64 << 10)

  /// - Parameter source: the loopback address from which it calls, as 0x7F000001.
  init(port: UInt16, from source: UInt32 = 0x7F00_0001) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw BenchmarkError("no socket") }
    guard SourceAddress(source).bind(descriptor) else {
      close(descriptor)
      throw BenchmarkError("no connection from another loopback address")
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    let reason = unsafe String(cString: strerror(errno))
    var one: Int32 = 1
    unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    guard status == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
      close(descriptor)
      throw BenchmarkError("no connection to port \(port): \(reason)")
    }
    received.reserveCapacity(4_096)
    // Set last: what throws with everything set is deinitialised, and its descriptor would be closed twice.
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// What it waits for, in the words of poll(2).
  var events: Int16 {
    guard let request else { return 0 }
    return Int16(sent < request.count ? POLLOUT : POLLIN)
  }

  /// Whether the service has closed it meanwhile, as it closes connections that say nothing for long.
  var isClosed: Bool {
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) == 0
  }

  /// Begins to send; the answer may be there at once, else `proceed` asks for it.
  mutating func start(_ request: [UInt8], due: UInt64) -> Progress {
    self.request = request
    self.due = due
    sent = 0
    received.removeAll(keepingCapacity: true)
    return proceed()
  }

  /// Sends or reads what can be without waiting.
  mutating func proceed() -> Progress {
    guard let request else { return .waiting }
    while sent < request.count {
      let count = unsafe request.withUnsafeBytes { bytes in
        unsafe send(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count < 0 { return errno == EAGAIN ? .waiting : .broken }
      sent += count
    }
    let count = unsafe recv(descriptor, &part, 64 << 10, 0)
    if count < 0 { return errno == EAGAIN ? .waiting : .broken }
    if count == 0 { return .broken }
    received += part[..<count]
    guard let status = Answer.status(of: received) else { return .waiting }
    self.request = nil
    return .answered(status: status)
  }
}

/// Just enough of an HTTP answer.
private enum Answer {
  private static let headEnd = Array("\r\n\r\n".utf8)
  private static let length = Array("\r\nContent-Length: ".utf8)

  /// The status of an answer that is there to its last byte; nil while something is missing.
  ///
  /// Searched by loops of our own: `firstRange(of:)` took most of the generator's time, and so most of what was measured.
  static func status(of bytes: [UInt8]) -> Int? {
    let bytes = bytes.span
    guard let bodyStart = end(of: headEnd, in: bytes, before: bytes.count),
      let digits = end(of: length, in: bytes, before: bodyStart),
      bytes.count - bodyStart >= number(in: bytes, from: digits)
    else { return nil }
    return number(in: bytes, from: 9)
  }

  /// Where the first `text` ends.
  private static func end(of text: [UInt8], in bytes: Span<UInt8>, before end: Int) -> Int? {
    var matched = 0
    for index in 0..<end {
      // Both texts begin with the one CR that may follow a part of them.
      if bytes[index] != text[matched] { matched = bytes[index] == text[0] ? 1 : 0 } else { matched += 1 }
      if matched == text.count { return index + 1 }
    }
    return nil
  }

  /// The number whose digits begin at `index`.
  private static func number(in bytes: Span<UInt8>, from index: Int) -> Int {
    var (number, index) = (0, index)
    while index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) {
      number = number * 10 + Int(bytes[index]) - 48
      index += 1
    }
    return number
  }
}
