import CMariaDB
import Time

/// The only owner of a `MYSQL`, connected in its initializer and closed with its last reference.
///
/// Prepared statements keep it alive. Not Sendable: it stays on one connection's queue.
@safe final class MySQLHandle {
  let mysql: UnsafeMutablePointer<MYSQL>

  /// The library's one-time initialization, which would be a race in `mysql_init`.
  private static let library = mysql_server_init(0, nil, nil) == 0

  init(connectingTo configuration: DatabaseConfiguration) throws(DatabaseError) {
    guard Self.library, let mysql = unsafe mysql_init(nil) else {
      throw DatabaseError(.other(2008), "the client library has no memory")
    }
    unsafe self.mysql = unsafe mysql
    setOptions(configuration)
    try connect(configuration)
  }

  deinit { unsafe mysql_close(mysql) }

  /// Throws the error of the previous call if `status` is not 0.
  func check(_ status: Int32) throws(DatabaseError) {
    guard status != 0 else { return }
    throw lastError
  }

  /// Whether a transaction is open, by the server's last response.
  var isInTransaction: Bool { unsafe mysql.pointee.server_status & UInt32(SERVER_STATUS_IN_TRANS) != 0 }

  var lastError: DatabaseError {
    unsafe DatabaseError(number: Int(mysql_errno(mysql)), message: String(cString: mysql_error(mysql)))
  }

  private func connect(_ configuration: DatabaseConfiguration) throws(DatabaseError) {
    let (host, port, socket): (String?, UInt16, String?) =
      switch configuration.address {
      case .socket(let path): (nil, 0, path)
      // With "localhost" the library would use its own default socket.
      case .host(let name, let port): (name == "localhost" ? "127.0.0.1" : name, port, nil)
      }
    let connected = unsafe mysql_real_connect(
      mysql, host, configuration.user, configuration.password, configuration.database, UInt32(port), socket, 0)
    if unsafe connected != nil {
      // On a socket the library accepts "enforce" without any TLS.
      guard unsafe configuration.tls != .required || mysql_get_ssl_cipher(mysql) != nil else {
        throw DatabaseError(.tlsFailed, "the connection is not encrypted, and TLS is required")
      }
      return
    }
    let error = lastError
    throw Self.isTimeout(unsafe String(cString: mysql_error(mysql)))
      ? DatabaseError(.timedOut, error.detail) : error
  }

  /// Connector/C reports a timeout while connecting only as system error 110 (ETIMEDOUT) in its message.
  private static func isTimeout(_ message: String) -> Bool {
    message.hasSuffix("(110)") || message.hasSuffix("system error: 110")
  }

  private func setOptions(_ configuration: DatabaseConfiguration) {
    set(MYSQL_OPT_CONNECT_TIMEOUT, seconds(configuration.connectTimeout))
    set(MYSQL_OPT_READ_TIMEOUT, seconds(configuration.readTimeout))
    set(MYSQL_OPT_WRITE_TIMEOUT, seconds(configuration.writeTimeout))
    set(MYSQL_OPT_LOCAL_INFILE, UInt32(0))  // A server could otherwise request any file of the client.
    set(MYSQL_OPT_RECONNECT, my_bool(0))  // A reconnect would silently lose the transaction and the session's settings.
    set(MYSQL_REPORT_DATA_TRUNCATION, my_bool(1))
    unsafe mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4")
    switch configuration.tls {
    case .disabled: break
    case .preferred: enableTLS(configuration)
    case .required:
      enableTLS(configuration)
      set(MYSQL_OPT_SSL_ENFORCE, my_bool(1))
    }
  }

  private func enableTLS(_ configuration: DatabaseConfiguration) {
    unsafe mysql_ssl_set(mysql, nil, nil, configuration.certificateAuthority, nil, nil)
    set(MYSQL_OPT_SSL_VERIFY_SERVER_CERT, my_bool(configuration.certificateAuthority == nil ? 0 : 1))
  }

  private func set(_ option: mysql_option, _ value: some BitwiseCopyable) {
    var value = value
    unsafe withUnsafeBytes(of: &value) { bytes in _ = unsafe mysql_options(mysql, option, bytes.baseAddress) }
  }

  /// Returns whole seconds, at least one: the library has no finer unit, and 0 means no limit.
  private func seconds(_ interval: Interval) -> UInt32 {
    UInt32(clamping: max(1, (interval.milliseconds + 999) / 1_000))
  }
}

extension DatabaseError {
  init(number: Int, message: String) {
    self.init(Code(number: number), RedactedServerMessage(number: number, message).text)
  }
}
