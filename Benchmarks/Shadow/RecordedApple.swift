import HTTPServer
import Synchronization
import Time

/// Apple's verifyReceipt with answers that were recorded beforehand, each given to whoever posts its request.
///
/// It serves in this process, beside the load generator, over connections that stay open.
final class RecordedApple: HTTPHandler {
  private struct State {
    /// By the request's body.
    var answers: [[UInt8]: [UInt8]] = [:]
    var otherwise: [UInt8] = []
    var takes = Duration.zero
  }

  private let state = Mutex(State())

  func record(_ answer: [UInt8], to request: [UInt8]) { state.withLock { $0.answers[request] = answer } }

  /// What every other request is answered with.
  func record(otherwise answer: [UInt8]) { state.withLock { $0.otherwise = answer } }

  /// How long each answer takes from now on.
  func take(_ time: Duration) { state.withLock { $0.takes = time } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let body = request.body
    let (answer, takes) = state.withLock { ($0.answers[body] ?? $0.otherwise, $0.takes) }
    if takes > .zero { try? await Task.sleep(for: takes) }
    return .json(200, answer)
  }

  /// Listens for as long as `body` runs.
  func listening<R: Sendable>(_ body: (UInt16) async throws -> R) async throws -> R {
    var limits = HTTPServerLimits()
    limits.connectionsPerAddress = nil
    let server = HTTPServer(HTTPServerConfiguration(port: 0, limits: limits, stopWithin: .seconds(1)), handler: self)
    try server.start()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      do {
        let result = try await body(server.port)
        group.cancelAll()
        try await group.waitForAll()
        return result
      } catch {
        group.cancelAll()
        throw error
      }
    }
  }
}
