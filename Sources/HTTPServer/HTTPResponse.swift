/// A response: status, headers, body.
///
/// The server writes length and connection headers, and the date unless the handler sets one. A response that HTTP
/// cannot express (a status outside 200–599, a header with a line break) is replaced by a bare 500.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var headers: HTTPHeaders
  package var body: [UInt8]
  package var ending = Ending.complete
  /// The share that already counts `body`.
  ///
  /// Otherwise the server counts it, and sends a bare 503 above the limit.
  package var share: BodyShare?

  /// The end of a response; simulated servers break off like real ones.
  package enum Ending: Hashable, Sendable {
    case complete
    /// The connection is closed after this number of bytes of the announced body; 0 means `silent`.
    case cut(after: Int)
    case silent
  }

  /// Whether no byte of it is sent.
  var isSilent: Bool {
    switch ending {
    case .complete: false
    case .cut(let count): count <= 0
    case .silent: true
    }
  }

  package init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Creates a response with `body` as `application/json`.
  package static func json(_ status: Int, _ body: [UInt8]) -> Self {
    Self(status: status, headers: ["Content-Type": "application/json"], body: body)
  }

  /// Creates a response with `text` as UTF-8 plain text.
  package static func text(_ status: Int, _ text: String) -> Self {
    Self(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Array(text.utf8))
  }
}
