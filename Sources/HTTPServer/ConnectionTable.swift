import Glibc
import Synchronization

/// Every open connection, by descriptor.
///
/// A connection leaves the table before the library closes its descriptor, so a descriptor found here under the lock is
/// this connection's and no other's.
final class ConnectionTable: Sendable {
  private struct Contents {
    var open: [Int32: OpenConnection] = [:]
    var perAddress: [[UInt8]: Int] = [:]
  }

  private let contents = Mutex(Contents())
  private let limits: HTTPServerLimits

  init(limits: HTTPServerLimits) { self.limits = limits }

  var count: Int { contents.withLock { $0.open.count } }

  /// Takes the connection in, or says which limit forbids it.
  func insert(_ connection: OpenConnection) -> HTTPRefusal? {
    contents.withLock { contents in
      guard contents.open.count < limits.connections else { return .tooManyConnections }
      if let most = limits.connectionsPerAddress {
        guard contents.perAddress[connection.peer.site, default: 0] < most else { return .tooManyFromAddress }
        contents.perAddress[connection.peer.site, default: 0] += 1
      }
      contents.open[connection.descriptor] = connection
      return nil
    }
  }

  func connection(on descriptor: Int32) -> OpenConnection? { contents.withLock { $0.open[descriptor] } }

  func remove(_ connection: OpenConnection) {
    contents.withLock { contents in
      guard contents.open[connection.descriptor] === connection else { return }
      contents.open[connection.descriptor] = nil
      guard limits.connectionsPerAddress != nil else { return }
      let site = connection.peer.site
      let left = contents.perAddress[site, default: 1] - 1
      contents.perAddress[site] = left > 0 ? left : nil
    }
  }

  /// Forgets all; for when the library, which closes them, has ended.
  func removeAll() { contents.withLock { $0 = Contents() } }

  /// Cuts every connection on which `reason` says so, and returns those cut.
  ///
  /// Only the transport is shut down: the library sees the end of the stream, tells the exchange, and closes.
  func cut<Reason: Sendable>(
    _ reason: (OpenConnection) -> Reason?
  ) -> [(connection: OpenConnection, reason: Reason)] {
    contents.withLock { contents in
      var cut: [(OpenConnection, Reason)] = []
      for connection in contents.open.values {
        guard let reason = reason(connection) else { continue }
        connection.forgetDeadline()
        _ = shutdown(connection.descriptor, Int32(SHUT_RDWR))
        cut.append((connection, reason))
      }
      return cut
    }
  }

  /// The exchanges whose answer is awaited, of the connections `when` picks.
  func exchanges(when picks: (OpenConnection) -> OpenConnection.Phase?) -> [Exchange] {
    contents.withLock { contents in
      contents.open.values.compactMap { connection in
        if case .answering(let exchange)? = picks(connection) { exchange } else { nil }
      }
    }
  }
}
