/// An answer: status, headers, body.
///
/// Length and connection headers are the server's to write, and so is the date unless the handler gives one. An answer
/// that HTTP cannot say (a status outside 200–599, a header with a line break) is replaced by a bare 500: never half an
/// answer.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var headers: HTTPHeaders
  package var body: [UInt8]
  package var ending = Ending.complete
  /// The share in which `body` is counted already; else it is counted once it is answered, and is a bare 503 without room.
  package var share: BodyShare?

  /// How an answer ends; simulated servers break off as real ones do.
  package enum Ending: Hashable, Sendable {
    case complete
    /// The connection is closed after so many bytes of the body, whose whole length was announced; with none, `silent`.
    case cut(after: Int)
    /// The connection is closed without a byte.
    case silent
  }

  /// Whether not a byte of it is sent.
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

  /// `body` as `application/json`.
  package static func json(_ status: Int, _ body: [UInt8]) -> Self {
    Self(status: status, headers: ["Content-Type": "application/json"], body: body)
  }

  /// `text` as UTF-8 plain text.
  package static func text(_ status: Int, _ text: String) -> Self {
    Self(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Array(text.utf8))
  }
}
