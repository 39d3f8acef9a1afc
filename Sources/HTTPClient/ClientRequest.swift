package import Time

/// What is asked of a server.
package struct ClientRequest: Sendable {
  package var method: String
  /// `http` or `https`, and without user information: secrets belong in headers.
  package var url: String
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]
  /// From the call to the last byte of the answer, waiting for a connection included.
  package var deadline: Interval
  /// Bytes of the answer's body; more end the transfer.
  package var responseLimit: Int
  /// Whether it may go out twice, as it does when a kept connection dies before the first byte of an answer.
  ///
  /// False sends it over a new connection.
  package var mayRepeat: Bool
  /// Asked before so many further bytes of memory are taken for the answer's body; false ends the transfer with `noRoom`.
  ///
  /// Called on the thread of all transfers: it must not wait.
  package var admit: (@Sendable (Int) -> Bool)?

  package init(
    method: String = "GET", url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
    deadline: Interval = .seconds(30), responseLimit: Int = 16 << 20, mayRepeat: Bool = true,
    admit: (@Sendable (Int) -> Bool)? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.deadline = deadline
    self.responseLimit = responseLimit
    self.mayRepeat = mayRepeat
    self.admit = admit
  }
}
