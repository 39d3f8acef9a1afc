import Synchronization

/// A copy of the server's counters since its start.
package struct HTTPServerCounters: Sendable {
  /// Responses by the first digit of their status; index 2 counts 2xx.
  package var answers: [Int]
  package var refused: [HTTPRejection: Int]
  package var faults: [RequestParseError: Int]
  package var openConnections: Int
  package var connections: Int
  package var bytesReceived: Int
  package var bytesSent: Int
  package var bodiesInFlight: Int

  package var requests: Int { answers.reduce(0, +) }
}

final class AtomicCounters: Sendable {
  private let success = Atomic(0)
  private let redirection = Atomic(0)
  private let clientError = Atomic(0)
  private let serverError = Atomic(0)
  private let connections = Atomic(0)
  private let received = Atomic(0)
  private let sent = Atomic(0)
  private let refused = Mutex<[HTTPRejection: Int]>([:])
  private let faults = Mutex<[RequestParseError: Int]>([:])

  func answered(status: Int, bytes: Int) {
    switch status / 100 {
    case 2: success.wrappingAdd(1, ordering: .relaxed)
    case 3: redirection.wrappingAdd(1, ordering: .relaxed)
    case 4: clientError.wrappingAdd(1, ordering: .relaxed)
    case _: serverError.wrappingAdd(1, ordering: .relaxed)
    }
    sent.wrappingAdd(bytes, ordering: .relaxed)
  }

  func connected() { connections.wrappingAdd(1, ordering: .relaxed) }
  func received(bytes: Int) { received.wrappingAdd(bytes, ordering: .relaxed) }
  func refused(_ reason: HTTPRejection) { refused.withLock { $0[reason, default: 0] += 1 } }
  func refused(_ fault: RequestParseError) { faults.withLock { $0[fault, default: 0] += 1 } }

  func counters(openConnections: Int, bodiesInFlight: Int) -> HTTPServerCounters {
    HTTPServerCounters(
      answers: [
        0, 0, success.load(ordering: .relaxed), redirection.load(ordering: .relaxed),
        clientError.load(ordering: .relaxed), serverError.load(ordering: .relaxed),
      ],
      refused: refused.withLock { $0 }, faults: faults.withLock { $0 }, openConnections: openConnections,
      connections: connections.load(ordering: .relaxed), bytesReceived: received.load(ordering: .relaxed),
      bytesSent: sent.load(ordering: .relaxed), bodiesInFlight: bodiesInFlight)
  }
}
