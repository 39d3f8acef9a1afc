/// What stands before the service and serves TLS in its place: passes everything on, and remembers what Apple posted.
final class FrontProxy: HTTPHandler {
  private struct State {
    var posted: [[UInt8]] = []
    var service = ""
  }

  private let state = Mutex(State())
  private let client = HTTPClient()

  /// Names the service behind it.
  func pass(to url: String) { state.withLock { $0.service = url } }

  /// The bodies of notifications that were answered with 200, in the order of the answers.
  var posted: [[UInt8]] { state.withLock { $0.posted } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let service = state.withLock { $0.service }
    let headers = ["Authorization", "Content-Type"].compactMap { name in request.headers[name].map { (name, $0) } }
    do {
      let answer = try await client.send(
        ClientRequest(
          method: request.method, url: service + request.rawTarget, headers: headers, body: request.body))
      if answer.status == 200, request.path.hasPrefix("/notifications") {
        state.withLock { $0.posted.append(request.body) }
      }
      return .json(answer.status, answer.body)
    } catch {
      return .text(502, "\(error)")
    }
  }

  func shutdown() async { await client.shutdown() }
}
