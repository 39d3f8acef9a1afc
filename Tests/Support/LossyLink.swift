package import Database
import Glibc
import Runtime
import Synchronization

/// A way to a database on which a COMMIT, or the answer to one, is lost together with its connection.
package final class LossyLink: Sendable {
  package enum Loss: Sendable {
    /// The server never hears of the COMMIT and rolls back.
    case request
    /// The server commits, and the client never hears of it.
    case answer
  }

  private struct State {
    /// Of the next COMMITs, in order.
    var losses: [Loss]
    var lost = 0
    var requests = 0
  }

  /// The database, by this way.
  package let configuration: DatabaseConfiguration
  private let server: DatabaseConfiguration.Address
  private let listener: Int32
  private let state: Mutex<State>

  /// - Parameter losses: what becomes of the first COMMITs; those after them are carried as everything else is.
  package init(to database: DatabaseConfiguration, losing losses: [Loss]) {
    let (listener, port) = Self.listen()
    var here = database
    here.address = .host("127.0.0.1", port: port)
    (configuration, server, self.listener) = (here, database.address, listener)
    state = Mutex(State(losses: losses))
    DedicatedThread.start { [self] in
      while case let client = accept(self.listener, nil, nil), client >= 0 {
        let wire = Wire(client: client, server: Self.connection(to: server))
        DedicatedThread.start { self.carryRequests(wire) }
        DedicatedThread.start { self.carryAnswers(wire) }
      }
      close(self.listener)
    }
  }

  /// COMMITs that were lost, with or without having happened.
  package var lost: Int { state.withLock { $0.lost } }

  /// What clients have sent so far: statements, for the most part.
  package var requests: Int { state.withLock { $0.requests } }

  /// What becomes of the next COMMITs.
  package func lose(_ losses: [Loss]) { state.withLock { $0.losses = losses } }

  /// Takes no more connections; those that are open stay.
  package func end() { _ = shutdown(listener, Int32(SHUT_RDWR)) }

  // MARK: Carrying

  /// Both ends of a connection, closed when nobody reads from them any more.
  private final class Wire: Sendable {
    let client: Int32
    let server: Int32
    /// Whether the connection ends with the next answer, which nobody gets.
    let losesAnswer = Atomic<Bool>(false)

    init(client: Int32, server: Int32) { (self.client, self.server) = (client, server) }

    deinit {
      close(client)
      close(server)
    }

    func cut() {
      _ = shutdown(client, Int32(SHUT_RDWR))
      _ = shutdown(server, Int32(SHUT_RDWR))
    }
  }

  private func carryRequests(_ wire: Wire) {
    defer { wire.cut() }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe recv(wire.client, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      let request = Array(buffer.prefix(count))
      switch loss(of: request) {
      case .request: return
      case .answer: wire.losesAnswer.store(true, ordering: .sequentiallyConsistent)
      case nil: break
      }
      guard Self.pass(request, to: wire.server) else { return }
    }
  }

  private func carryAnswers(_ wire: Wire) {
    defer { wire.cut() }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe recv(wire.server, &buffer, buffer.count, 0)
      guard count > 0, !wire.losesAnswer.load(ordering: .sequentiallyConsistent) else { return }
      guard Self.pass(Array(buffer.prefix(count)), to: wire.client) else { return }
    }
  }

  /// A statement is a packet: its length in three bytes, a number, 3, and its text.
  private func loss(of request: [UInt8]) -> Loss? {
    let isCommit = request.dropFirst(4).elementsEqual([3] + Array("COMMIT".utf8))
    let loss: Loss? = state.withLock { state in
      state.requests += 1
      guard isCommit, !state.losses.isEmpty else { return nil }
      state.lost += 1
      return state.losses.removeFirst()
    }
    return loss
  }

  private static func pass(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var left = bytes
    while !left.isEmpty {
      let count = unsafe send(descriptor, left, left.count, Int32(MSG_NOSIGNAL))
      guard count > 0 else { return false }
      left.removeFirst(count)
    }
    return true
  }

  // MARK: Sockets

  private static func listen() -> (descriptor: Int32, port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var name = Self.loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    unsafe withUnsafeMutablePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = unsafe bind(descriptor, address, length)
        _ = Glibc.listen(descriptor, 128)
        _ = unsafe getsockname(descriptor, address, &length)
      }
    }
    return (descriptor, UInt16(bigEndian: name.sin_port))
  }

  /// A connection to the server, by its socket or by a port of this machine; a broken one if nobody listens.
  private static func connection(to server: DatabaseConfiguration.Address) -> Int32 {
    switch server {
    case .socket(let path):
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var name = sockaddr_un()
      name.sun_family = sa_family_t(AF_UNIX)
      unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
      let length = socklen_t(MemoryLayout<sockaddr_un>.size)
      unsafe withUnsafeMutablePointer(to: &name) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          _ = unsafe connect(descriptor, address, length)
        }
      }
      return descriptor
    case .host(_, let port):
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var name = Self.loopback(port: port)
      let length = socklen_t(MemoryLayout<sockaddr_in>.size)
      unsafe withUnsafeMutablePointer(to: &name) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          _ = unsafe connect(descriptor, address, length)
        }
      }
      return descriptor
    }
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    name.sin_port = port.bigEndian
    return name
  }
}
