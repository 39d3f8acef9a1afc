package import Time

package struct HTTPServerConfiguration: Sendable {
  /// A numeric IPv4 or IPv6 address; `::` accepts both.
  package var address: String
  /// 0 lets the system choose; `HTTPServer.port` has the result.
  package var port: UInt16
  /// The number of I/O threads; a handler starts on one of them.
  package var threads: Int
  /// TLS 1.2 and 1.3 when given, plain HTTP otherwise.
  package var tls: HTTPServerTLS?
  package var limits: HTTPServerLimits
  /// Returns the class of an accepted connection by its address; it must be fast.
  package var classify: @Sendable (PeerAddress) -> CallerClass = { _ in .anonymous }
  /// The time for running requests to finish after a stop.
  package var stopWithin: Interval

  package init(
    address: String = "127.0.0.1", port: UInt16, threads: Int = 2, tls: HTTPServerTLS? = nil,
    limits: HTTPServerLimits = HTTPServerLimits(), stopWithin: Interval = .seconds(10)
  ) {
    self.address = address
    self.port = port
    self.threads = threads
    self.tls = tls
    self.limits = limits
    self.stopWithin = stopWithin
  }
}

/// The PEM files of the certificate chain and its key, read at the start.
package struct HTTPServerTLS: Sendable {
  package var certificateFile: String
  package var keyFile: String

  package init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }
}

package struct HTTPServerLimits: Sendable {
  /// Bytes of a body, unless the handler admits another number.
  package var body = 1 << 20
  /// Bytes of memory of all bodies together.
  ///
  /// A request's counts from its first byte until the handler is done, a long response's until the client has received
  /// it, in addition to the handler's own counts. Above the limit the response is 503.
  package var bodiesInFlight = 64 << 20
  /// Bytes of the request line and the headers together.
  package var head = 16 << 10
  /// Bytes of the request line, and of each header.
  package var line = 8 << 10
  /// Headers of one request.
  package var fields = 100
  /// Open connections; more get 503 and are closed.
  package var connections = 1_024
  /// Open connections from one address (IPv6: one /64); `nil` means no limit (behind a proxy all have the same).
  package var connectionsPerAddress: Int? = 256
  /// New connections of one address (IPv6: one /64) outside of named classes; `nil` means no limit.
  package var connectionRate: Rate?
  /// The percentage of `connections` and `bodiesInFlight` that is reserved for each class of callers.
  package var reservedPercent: [CallerClass: Int] = [:]
  /// The time from the connection to the first byte of a request.
  package var firstByte = Interval.seconds(10)
  /// The limit for that and for `idle`, while the connections of its class are nearly used up.
  package var firstByteWhenCrowded = Interval.seconds(1)
  /// The time between two requests on one connection.
  package var idle = Interval.seconds(60)
  /// The time to receive one whole request.
  package var receive = Interval.seconds(30)
  /// The time for the handler to respond; 503 after that.
  package var answer = Interval.seconds(30)
  /// The time for the client to receive the response.
  package var send = Interval.seconds(60)
  /// Bytes of a rejected body that are discarded, so that the client can read the reason.
  ///
  /// More than any route accepts: closing with an unread body resets the connection, and a client that still sends sees
  /// the reset instead of the response.
  package var discard = 4 << 20
  /// Whether a path may contain `%2F`, which becomes a slash; OCSP requests by GET contain it.
  package var takesEscapedSlashes = false

  package init() {}
}
