package import Time

/// Where the database is, who we are there, and the limits of a session.
///
/// Its description and its mirror leave out the password.
package struct DatabaseConfiguration: Sendable, Equatable {
  package enum Address: Sendable, Equatable {
    case socket(path: String)
    case host(String, port: UInt16)
  }

  /// A socket's path must be shorter than 108 bytes with its final zero (`sockaddr_un`); one to spare.
  static let socketLimit = 106

  package enum TLS: String, Sendable, Equatable {
    case disabled
    /// Used when the server offers it. No protection against whoever can change what is on the wire.
    case preferred
    /// Fails without it. The server's certificate and host name are checked when `certificateAuthority` is given.
    case required
  }

  package var address: Address
  package var user: String
  package var password: String
  package var database: String?
  package var tls: TLS
  /// A PEM file with the authorities that may have signed the server's certificate.
  package var certificateAuthority: String?

  package var connectTimeout: Interval = .seconds(10)
  package var readTimeout: Interval = .seconds(30)
  package var writeTimeout: Interval = .seconds(30)
  package var lockWaitTimeout: Interval = .seconds(5)

  /// Prepared statements kept for each session; the least recently used goes first.
  package var statementCacheSize = 128
  /// The same of the inserts of rows: the ledger has 23, each prepared for up to ten numbers of rows; 13 are in daily use.
  package var insertCacheSize = 160
  /// The longest value accepted from a column, in bytes.
  package var columnLimit = 64 << 20
  /// The most bytes a result collected into an array may have; stream what is larger.
  package var resultLimit = 256 << 20
  /// The most bytes that the rows of one statement of `insert` take; never above the server's max_allowed_packet.
  ///
  /// One body is a value, and Apple's answers are taken up to 16 MiB.
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

  /// The same with time for statements that change a large table: the server may be hours about an index.
  package var forSchemaChanges: Self {
    var copy = self
    copy.readTimeout = .hours(12)
    return copy
  }

  /// The same server and account with another database.
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
