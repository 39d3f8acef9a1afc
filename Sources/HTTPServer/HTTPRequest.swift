/// A request after its headers, before any byte of its body.
package struct HTTPRequestHead: Sendable {
  package let method: String
  /// Only the path: percent escapes decoded, empty segments collapsed, never a dot segment.
  package let path: String
  /// The target as received, with the query.
  package let rawTarget: String
  package let headers: HTTPHeaders
  package let peer: PeerAddress

  package init(
    method: String, path: String, rawTarget: String, headers: HTTPHeaders = [:], peer: PeerAddress = .unknown
  ) {
    self.method = method
    self.path = path
    self.rawTarget = rawTarget
    self.headers = headers
    self.peer = peer
  }

  /// The path as received, without a host and without the query: `path` may be spelled otherwise.
  package var writtenPath: Substring {
    let target = RequestTarget.absolute(rawTarget[...])?.origin ?? rawTarget[...]
    return target.prefix { $0 != "?" }
  }

  /// The query's pairs in order, decoded at each call.
  package var query: [(name: String, value: String)] { RequestTarget.query(of: rawTarget) }

  /// Returns the value of the query's first `name`.
  package func queryValue(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

/// A whole request, its body within the admitted limit.
package struct HTTPRequest: Sendable {
  package let head: HTTPRequestHead
  package let body: [UInt8]
  /// The budget for its response's memory; `nil` for a request that no server received.
  var budget: BodyBudget?
  var caller = CallerClass.anonymous

  package init(head: HTTPRequestHead, body: [UInt8] = []) {
    self.head = head
    self.body = body
  }

  /// Returns an empty share of the memory for bodies, for the class of the request's sender.
  ///
  /// It counts a handler's data, such as another server's response. With the response it is passed on to the client.
  package func share() -> BodyShare { BodyShare(of: budget, for: caller) }

  package var method: String { head.method }
  package var path: String { head.path }
  package var rawTarget: String { head.rawTarget }
  package var headers: HTTPHeaders { head.headers }
  package var peer: PeerAddress { head.peer }
  package var query: [(name: String, value: String)] { head.query }

  /// Returns the value of the query's first `name`.
  package func queryValue(_ name: String) -> String? { head.queryValue(name) }
}
