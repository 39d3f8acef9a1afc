import Glibc
import Runtime

struct Listener: ~Copyable {
  let descriptor: Int32
  let port: UInt16

  /// Listens on a numeric address; port 0 lets the system choose.
  init(address: String, port: UInt16) throws(HTTPServerError) {
    let family = address.utf8.contains(UInt8(ascii: ":")) ? AF_INET6 : AF_INET
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let place = "\(address) port \(port)"
    let descriptor = socket(family, type, 0)
    guard descriptor >= 0 else { throw Self.error(errno, place) }
    do throws(HTTPServerError) {
      try Self.set(SOL_SOCKET, SO_REUSEADDR, 1, on: descriptor, place)
      if family == AF_INET6 { try Self.set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0, on: descriptor, place) }
      try Self.bind(descriptor, to: address, port: port, family: family, place)
      guard listen(descriptor, 1_024) == 0 else { throw Self.error(errno, place) }
      self.port = Self.boundPort(descriptor)
      self.descriptor = descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit { close(descriptor) }

  /// Returns the next connection, or `nil` when none waits; throws the system's error number otherwise.
  func accept() throws(Errno) -> Accepted? {
    var storage = sockaddr_storage()
    while true {
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let accepted = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          unsafe Glibc.accept(descriptor, address, &length)
        }
      }
      if accepted >= 0 {
        guard accepted < OpenFileLimit.endOfClients else {
          close(accepted)
          throw Errno(number: EMFILE)
        }
        return Accepted(socket: Socket(takingOwnershipOf: accepted), peer: PeerAddress(storage))
      }
      switch errno {
      case EAGAIN: return nil
      case EINTR, ECONNABORTED, EPROTO: continue
      case let number: throw Errno(number: number)
      }
    }
  }

  struct Accepted: ~Copyable {
    let socket: Socket
    let peer: PeerAddress
  }

  struct Errno: Error {
    let number: Int32
    var reason: String { unsafe String(cString: strerror(number)) }
  }

  private static func bind(
    _ descriptor: Int32, to address: String, port: UInt16, family: Int32, _ place: String
  ) throws(HTTPServerError) {
    var status: Int32
    if family == AF_INET6 {
      var name = sockaddr_in6()
      name.sin6_family = sa_family_t(AF_INET6)
      name.sin6_port = port.bigEndian
      guard unsafe inet_pton(AF_INET6, address, &name.sin6_addr) == 1 else { throw invalid(address) }
      status = unsafe bound(descriptor, &name)
    } else {
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = port.bigEndian
      guard unsafe inet_pton(AF_INET, address, &name.sin_addr) == 1 else { throw invalid(address) }
      status = unsafe bound(descriptor, &name)
    }
    guard status == 0 else { throw error(errno, place) }
  }

  private static func bound<Address>(_ descriptor: Int32, _ name: UnsafePointer<Address>) -> Int32 {
    unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
      unsafe Glibc.bind(descriptor, address, socklen_t(MemoryLayout<Address>.size))
    }
  }

  private static func boundPort(_ descriptor: Int32) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    _ = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
    }
    return PeerAddress(storage).port
  }

  private static func set(
    _ level: Int32, _ option: Int32, _ value: Int32, on descriptor: Int32, _ place: String
  ) throws(HTTPServerError) {
    var value = value
    guard unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
      throw error(errno, place)
    }
  }

  private static func invalid(_ address: String) -> HTTPServerError {
    HTTPServerError(code: .invalidAddress, detail: "\(address) is not a numeric IPv4 or IPv6 address")
  }

  private static func error(_ number: Int32, _ place: String) -> HTTPServerError {
    let code: HTTPServerError.Code =
      switch number {
      case EADDRINUSE: .addressInUse
      case EADDRNOTAVAIL, EAFNOSUPPORT: .addressNotAvailable
      case EACCES, EPERM: .permissionDenied
      default: .system
      }
    guard code != .addressInUse else {
      return HTTPServerError(
        code: code,
        detail: "\(place) is in use by another process; `switchyard serve --listen ADDRESS:PORT` takes another")
    }
    return HTTPServerError(code: code, detail: "\(place): \(unsafe String(cString: strerror(number)))")
  }
}
