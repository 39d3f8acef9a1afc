import Time

/// A database's address as one line of configuration.
///
/// `mysql://user:password@host:3306/database?tls=required&ca=/etc/ssl/ca.pem`, or with a socket
/// `mysql://user@localhost/database?socket=/run/mysqld/mysqld.sock`. Reserved characters are percent-encoded. The
/// default of `tls` is `preferred` over a network and `disabled` on a socket. `timeout=SECONDS` replaces the timeouts
/// of 10 s for a connection and 30 s for a response. The description omits the password.
package struct DatabaseURL: Sendable, Equatable, CustomStringConvertible {
  package let configuration: DatabaseConfiguration

  package var description: String { configuration.description }

  package init(_ text: String) throws(DatabaseURLError) {
    guard text.utf8.count <= 4_096 else { throw .tooLong }
    var rest = try Self.afterScheme(text)
    let options = Self.cut(&rest, at: "?") ?? ""
    let database = try Self.cut(&rest, at: "/").map { part throws(DatabaseURLError) in try Self.decoded(part) } ?? ""
    guard let mark = rest.lastIndex(of: "@") else { throw .noUser }
    var account = rest[..<mark]
    let password = Self.cut(&account, at: ":") ?? ""
    let user = try Self.decoded(account)
    guard !user.isEmpty else { throw .noUser }
    let host = rest[rest.index(after: mark)...]
    var configuration = DatabaseConfiguration(
      address: try Self.address(host), user: user, password: try Self.decoded(password),
      database: database.isEmpty ? nil : database, tls: .preferred)
    try Self.apply(options, to: &configuration)
    self.configuration = configuration
  }

  private static func afterScheme(_ text: String) throws(DatabaseURLError) -> Substring {
    for scheme in ["mysql://", "mariadb://"] where text.hasPrefix(scheme) { return text.dropFirst(scheme.count) }
    throw .scheme
  }

  private static func address(_ text: Substring) throws(DatabaseURLError) -> DatabaseConfiguration.Address {
    var host = text
    var port = Substring("3306")
    if host.hasPrefix("[") {  // The colons of an IPv6 address belong to the host.
      guard let end = host.firstIndex(of: "]") else { throw .host }
      let after = host[host.index(after: end)...]
      guard after.isEmpty || after.hasPrefix(":") else { throw .host }
      if !after.isEmpty { port = after.dropFirst() }
      host = host[host.index(after: host.startIndex)..<end]
    } else if let given = cut(&host, at: ":") {
      port = given
    }
    guard let number = UInt16(port), number > 0 else { throw .port }
    let name = try decoded(host)
    guard !name.isEmpty else { throw .host }
    return .host(name, port: number)
  }

  private static func apply(
    _ options: Substring, to configuration: inout DatabaseConfiguration
  ) throws(DatabaseURLError) {
    var mode: DatabaseConfiguration.TLS?
    for option in options.split(separator: "&") {
      var name = option
      let value = try decoded(cut(&name, at: "=") ?? "")
      switch name {
      case "tls":
        guard let known = DatabaseConfiguration.TLS(rawValue: value) else { throw .tls }
        mode = known
      case "ca":
        guard value.hasPrefix("/") else { throw .path(option: "ca") }
        configuration.certificateAuthority = value
      case "socket":
        guard value.hasPrefix("/"), value.utf8.count <= DatabaseConfiguration.socketLimit else {
          throw .path(option: "socket")
        }
        configuration.address = .socket(path: value)
      case "timeout":
        guard let seconds = Int64(value), (1...3_600).contains(seconds) else { throw .timeout }
        configuration.connectTimeout = .seconds(seconds)
        configuration.readTimeout = .seconds(seconds)
        configuration.writeTimeout = .seconds(seconds)
      default: throw .option(String(name.prefix(40)))
      }
    }
    switch configuration.address {
    case .socket: configuration.tls = mode ?? .disabled
    case .host: configuration.tls = mode ?? (configuration.certificateAuthority == nil ? .preferred : .required)
    }
  }

  /// Removes the first mark and all text after it, which it returns, or `nil` without a mark.
  private static func cut(_ text: inout Substring, at mark: Character) -> Substring? {
    guard let index = text.firstIndex(of: mark) else { return nil }
    defer { text = text[..<index] }
    return text[text.index(after: index)...]
  }

  private static func decoded(_ text: Substring) throws(DatabaseURLError) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { throw .encoding }
      bytes.append(high << 4 | low)
    }
    guard !bytes.contains(0), let string = String(validating: bytes, as: UTF8.self) else { throw .encoding }
    return string
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// The error in a database URL, without the user or password.
package enum DatabaseURLError: Error, Equatable, Sendable, CustomStringConvertible {
  case tooLong
  case scheme
  case noUser
  case host
  case port
  case tls
  case path(option: String)
  case timeout
  case option(String)
  case encoding

  package var description: String {
    switch self {
    case .tooLong: "the database URL is longer than 4096 bytes"
    case .scheme: "the database URL must begin with mysql://"
    case .noUser: "the database URL names no user: mysql://user:password@host/database"
    case .host: "the database URL names no host"
    case .port: "the port in the database URL is not a number from 1 to 65535"
    case .tls: "tls in the database URL must be disabled, preferred or required"
    case .path(let option): "\(option) in the database URL must be an absolute path (a socket's under 107 bytes)"
    case .timeout: "timeout in the database URL is not a number of seconds from 1 to 3600"
    case .option(let name): "the database URL has an unknown option '\(name)'; known are tls, ca, socket and timeout"
    case .encoding: "the database URL has a malformed percent-encoding"
    }
  }
}
