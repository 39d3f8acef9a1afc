/// A request's unambiguous head, from its request line to the empty line.
package struct RequestHead: Sendable {
  package let method: String
  package let target: String
  /// Only the path, as `RequestTarget` parses it.
  package let path: String
  package let version: HTTPVersion
  package let fields: HTTPHeaders
  package let framing: BodyFraming
  /// The bytes of the head with all line ends; the body follows.
  package let size: Int

  /// Whether another request may follow on the connection.
  ///
  /// Never after HTTP/1.0, whose `keep-alive` a proxy of that version passes on without knowing it (RFC 9112, C.2.2).
  package var keepsConnection: Bool { version == .http11 && !fields.lists("close", in: "Connection") }

  /// Whether the client waits for `100 Continue` before it sends the body.
  package var awaitsContinue: Bool {
    version == .http11 && framing != .length(0) && fields.equals("Expect", "100-continue")
  }
}
