/// A server that keeps what is posted to it, such as the destination of an app.
final class Inbox: HTTPHandler {
  struct Post: Sendable {
    let path: String
    let body: [UInt8]
  }

  private struct State {
    var posts: [Post] = []
    var ids: Set<String> = []
    var repeats = 0
  }

  private let answer: @Sendable (HTTPRequest, _ count: Int) -> HTTPResponse
  private let state = Mutex(State())

  private init(_ answer: @escaping @Sendable (HTTPRequest, _ count: Int) -> HTTPResponse) { self.answer = answer }

  /// Runs `body` with an inbox and its URL.
  ///
  /// - Parameter answer: the response to a request, which gets the number of posts so far.
  static func with<R: Sendable>(
    answer: @escaping @Sendable (HTTPRequest, _ count: Int) -> HTTPResponse = { _, _ in HTTPResponse(status: 200) },
    _ body: (Inbox, _ url: String) async throws -> R
  ) async throws -> R {
    let inbox = Inbox(answer)
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: inbox) { _ in }
    try server.start()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      defer { group.cancelAll() }
      return try await body(inbox, "http://127.0.0.1:\(server.port)")
    }
  }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let count = state.withLock { state in
      if let id = request.head.headers["webhook-id"], !state.ids.insert(id).inserted {
        state.repeats += 1
      } else {
        state.posts.append(Post(path: request.path, body: request.body))
      }
      return state.posts.count
    }
    return answer(request, count)
  }

  /// The posts in the order of their arrival, without those whose `webhook-id` came before.
  var posts: [Post] { state.withLock { $0.posts } }

  /// The number of posts that had the `webhook-id` of an earlier one.
  var repeats: Int { state.withLock { $0.repeats } }

  func bodies(at path: String) -> Set<[UInt8]> { Set(posts.filter { $0.path == path }.map(\.body)) }
}
