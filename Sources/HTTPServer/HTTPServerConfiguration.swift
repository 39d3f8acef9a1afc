package import Time

/// How a server listens and what it puts up with.
package struct HTTPServerConfiguration: Sendable {
  /// A numeric IPv4 or IPv6 address; `::` hears both.
  package var address: String
  /// 0 lets the system pick; `HTTPServer.port` tells which.
  package var port: UInt16
  /// The threads that move bytes; a handler starts on one of them.
  package var threads: Int
  /// TLS 1.2 and 1.3 when given, plain HTTP otherwise.
  package var tls: HTTPServerTLS?
  package var limits: HTTPServerLimits
  /// Whom a connection is counted as, by its address, when it is accepted; quick, it runs for each of them.
  package var classify: @Sendable (PeerAddress) -> CallerClass = { _ in .anonymous }
  /// How long running requests may take to finish once the server is told to stop.
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

/// Where the certificate chain and its key are, as PEM files; read when the server starts.
package struct HTTPServerTLS: Sendable {
  package var certificateFile: String
  package var keyFile: String

  package init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }
}

/// What a client may ask of the server before it is refused or cut off.
package struct HTTPServerLimits: Sendable {
  /// Bytes of a body, unless the handler admits another number.
  package var body = 1 << 20
  /// Bytes of memory that all bodies together may hold: a request's from the first byte received until the handler is
  /// done with it, a long answer's until the client has taken it, and what a handler counts itself; beyond that 503.
  package var bodiesInFlight = 64 << 20
  /// Bytes of the request line and the headers together.
  package var head = 16 << 10
  /// Bytes of the request line, and of each header.
  package var line = 8 << 10
  /// Headers of one request.
  package var fields = 100
  /// Open connections; more are answered 503 and closed.
  package var connections = 1_024
  /// Open connections from one address (IPv6: one /64); no limit if `nil` (behind a proxy all have the same).
  package var connectionsPerAddress: Int? = 256
  /// New connections of one address (IPv6: one /64) that is not of a class with a name; no limit if `nil`.
  package var connectionRate: Rate?
  /// How many hundredths of `connections` and of `bodiesInFlight` each class of callers has for itself.
  package var reservedPercent: [CallerClass: Int] = [:]
  /// From the connection to the first byte of a request.
  package var firstByte = Interval.seconds(10)
  /// The same, and between two requests, while the connections for its class are nearly used up.
  package var firstByteWhenCrowded = Interval.seconds(1)
  /// Between two requests on one connection.
  package var idle = Interval.seconds(60)
  /// To receive one request entirely, however slowly its bytes drip.
  package var receive = Interval.seconds(30)
  /// For the handler to answer; 503 after that.
  package var answer = Interval.seconds(30)
  /// For the client to take the answer.
  package var send = Interval.seconds(60)
  /// Bytes of a refused body that are read and thrown away, so that the client gets to read why it was refused.
  ///
  /// More than any route takes: closed with a part of the body unread, the connection is reset, and the client that still
  /// sends sees that instead of the answer.
  package var discard = 4 << 20
  /// Whether `%2F` may stand in a path, where it becomes a slash; OCSP requests by GET have it.
  package var takesEscapedSlashes = false

  package init() {}
}
