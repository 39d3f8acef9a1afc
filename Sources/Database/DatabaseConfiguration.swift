package import Time

/// The database's address, the account, and the limits of a session.
///
/// Its description and its mirror omit the password.
package struct DatabaseConfiguration: Sendable, Equatable {
  package enum Address: Sendable, Equatable {
    case socket(path: String)
    case host(String, port: UInt16)
  }

  /// The maximum length of a socket's path: less than 108 bytes with its final zero (`sockaddr_un`), with one in
  /// reserve.
  static let socketLimit = 106

  package enum TLS: String, Sendable, Equatable {
    case disabled
    /// Used if the server offers it.
    ///
    /// No protection against an attacker that can change the traffic.
    case preferred
    /// Fails without TLS.
    ///
    /// With `certificateAuthority` the server's certificate and host name are checked.
    case required
  }

  package var address: Address
  package var user: String
  package var password: String
  package var database: String?
  package var tls: TLS
  /// A PEM file with the authorities for the server's certificate.
  package var certificateAuthority: String?

  package var connectTimeout: Interval = .seconds(10)
  package var readTimeout: Interval = .seconds(30)
  package var writeTimeout: Interval = .seconds(30)
  package var lockWaitTimeout: Interval = .seconds(5)

  /// The number of cached prepared statements of each session.
  ///
  /// The least recently used is closed first.
  package var statementCacheSize = 128
  /// The same for inserts: the ledger has 23, each prepared for up to ten numbers of rows, and uses 13 of them daily.
  package var insertCacheSize = 160
  /// The maximum bytes of a column's value.
  package var columnLimit = 64 << 20
  /// The maximum bytes of a result in an array.
  ///
  /// Stream larger results.
  package var resultLimit = 256 << 20
  /// The maximum bytes of the rows in one statement of `insert`, never above the server's max_allowed_packet.
  ///
  /// One body is a value, and Apple's responses may have 16 MiB.
  package var insertLimit = 17 << 20

  package init(
    address: Address, user: String, password: String = "", database: String? = nil, tls: TLS = .disabled,
    certificateAuthority: String? = nil
  ) {
    self.address = address
    self.user = user
    self.password = password
    self.database = database
    self.tls = tls
    self.certificateAuthority = certificateAuthority
  }

  /// The configuration with a timeout for changes of large tables: the server may need hours for an index.
  package var forSchemaChanges: Self {
    var copy = self
    copy.readTimeout = .hours(12)
    return copy
  }

  /// Returns the configuration with another database.
  package func database(_ name: String?) -> Self {
    var copy = self
    copy.database = name
    return copy
  }
}

extension DatabaseConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String {
    let place =
      switch address {
      case .socket(let path): "socket \(path)"
      case .host(let name, let port): "\(name):\(port)"
      }
    return "\(user)@\(place)/\(database ?? "") (TLS \(tls.rawValue))"
  }

  package var debugDescription: String { description }

  package var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
