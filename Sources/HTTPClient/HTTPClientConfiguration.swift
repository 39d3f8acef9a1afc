package import Time

/// How a client connects and what it puts up with.
///
/// Certificates are always verified, redirects never followed, and the environment's proxy variables never read.
package struct HTTPClientConfiguration: Sendable {
  /// `http://host:port`, for every request; none if `nil`.
  package var proxy: String?
  /// Root certificates trusted besides the system's: PEM, any number of them, or one as DER.
  package var additionalRoots: [UInt8] = []
  /// Name look-up, connection and TLS handshake together.
  package var connectWithin = Interval.seconds(10)
  /// From sending to the peer's acknowledgement: a connection that is silent for longer is dead for all who use it.
  package var acknowledgedWithin = Interval.seconds(15)
  /// Open connections to one host; requests beyond them wait, within their own deadline.
  package var connectionsPerHost = 16
  /// Bytes of a response's headers.
  package var responseHeaders = 64 << 10
  package var userAgent = "switchyard"

  package init() {}
}
