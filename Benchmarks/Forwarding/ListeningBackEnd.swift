import Glibc
import HTTPServer
import Synchronization
import Time

/// The old back end of the benchmark: answers 200 to everything at once, and notes when it heard what.
///
/// It serves in this process, beside the load generator, over connections that stay open.
final class ListeningBackEnd: HTTPHandler {
  /// A message that is to be heard.
  struct Expected: Sendable {
    let customer: Int
    /// Its place among the messages of its customer.
    let number: Int
  }

  /// What was heard since the last `forget`.
  struct Heard: Sendable {
    var count = 0
    /// Of messages that had been heard, told by their webhook-id.
    var repeats = 0
    /// Messages heard after a later one of their customer.
    var outOfOrder = 0
    /// Of no message that is expected.
    var unknown = 0
    /// Seconds from sending a message to the service until it was heard here, the longest.
    var worstLag = 0.0
    var first: UInt64 = 0
    var last: UInt64 = 0
    /// Seconds for which the oldest message that is not heard yet has waited.
    var oldestUnheard = 0.0

    var perSecond: Double { last > first ? Double(count - 1) * 1e9 / Double(last - first) : 0 }
  }

  private struct State {
    /// By the end of the body, which is a signature.
    var places: [UInt64: Int] = [:]
    var expected: [Expected] = []
    var sentAt: [UInt64] = []
    var isHeard: [Bool] = []
    var ids: Set<String> = []
    var latest: [Int: Int] = [:]
    var heard = Heard()
  }

  private let state = Mutex(State())

  /// Expects a message from now on; its number.
  func expect(_ body: [UInt8], _ expected: Expected) -> Int {
    state.withLock { state in
      state.places[Self.key(body)] = state.expected.count
      state.expected.append(expected)
      state.sentAt.append(0)
      state.isHeard.append(false)
      return state.expected.count - 1
    }
  }

  /// The message of that number was sent to the service.
  func noteSent(_ number: Int, at now: UInt64) { state.withLock { $0.sentAt[number] = now } }

  /// Begins to count anew.
  func forget() { state.withLock { $0.heard = Heard() } }

  var heard: Heard {
    state.withLock { state in
      var heard = state.heard
      let now = Self.now()
      let oldest = zip(state.sentAt, state.isHeard).lazy.filter { $0 > 0 && !$1 }.map(\.0).min()
      heard.oldestUnheard = oldest.map { Double(now - $0) / 1e9 } ?? 0
      return heard
    }
  }

  /// Messages that were sent and are not heard yet.
  var missing: Int { state.withLock { state in zip(state.sentAt, state.isHeard).count { $0 > 0 && !$1 } } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let (key, now) = (Self.key(request.body), Self.now())
    let id = request.head.headers["webhook-id"] ?? ""
    state.withLock { state in
      guard let place = state.places[key] else {
        state.heard.unknown += 1
        return
      }
      guard state.ids.insert(id).inserted else {
        state.heard.repeats += 1
        return
      }
      let expected = state.expected[place]
      if let latest = state.latest[expected.customer], latest > expected.number { state.heard.outOfOrder += 1 }
      state.latest[expected.customer] = max(expected.number, state.latest[expected.customer] ?? -1)
      state.isHeard[place] = true
      state.heard.count += 1
      if state.heard.first == 0 { state.heard.first = now }
      state.heard.last = now
      if state.sentAt[place] > 0 {
        state.heard.worstLag = max(state.heard.worstLag, Double(now - state.sentAt[place]) / 1e9)
      }
    }
    return HTTPResponse(status: 200)
  }

  /// The end of the body, folded into a number: FNV-1a.
  private static func key(_ body: [UInt8]) -> UInt64 {
    body.suffix(64).reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  static func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

extension ListeningBackEnd {
  /// Listens for as long as `body` runs: on the port given, or on one of its own choice.
  func listening<R: Sendable>(on port: UInt16 = 0, _ body: (UInt16) async throws -> R) async throws -> R {
    var limits = HTTPServerLimits()
    limits.connectionsPerAddress = nil
    let server = HTTPServer(HTTPServerConfiguration(port: port, limits: limits, stopWithin: .seconds(1)), handler: self)
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
