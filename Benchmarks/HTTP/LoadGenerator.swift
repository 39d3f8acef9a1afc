import Glibc
import Runtime

/// Posts ready-made requests over connections that stay open, from one thread with poll(2).
///
/// Written for this: with libcurl the client took more of the two cores than the server it was to measure.
struct LoadGenerator: Sendable {
  enum Pace: Sendable {
    /// Each connection sends its next request when it has its answer.
    case asFastAsAnswered
    /// So many a second, whether or not answers come: latency counts from when a request was due.
    case perSecond(Int)
  }

  let port: UInt16
  let connections: Int
  let pace: Pace
  /// Nothing new is sent after so long; what was sent is waited for.
  let seconds: Double
  /// The loopback addresses from which it calls, in turn.
  var sources: [UInt32] = [0x7F00_0001]
  /// Told of each request when it begins to be sent: its place, and the monotonic clock in nanoseconds.
  var noteSent: @Sendable (Int, UInt64) -> Void = { _, _ in }

  /// The bytes of a POST of `body`, connection kept.
  static func request(_ path: String, _ body: [UInt8]) -> [UInt8] {
    Array(
      "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
        .utf8) + body
  }

  /// Sends `requests`, each once and in their order, until they or the time are over.
  func run(_ requests: [[UInt8]]) async throws -> LoadReport {
    try await withCheckedThrowingContinuation { continuation in
      DedicatedThread.start {
        continuation.resume(with: Result { try Run(self).run(requests) })
      }
    }
  }
}

/// A load under way; lives on one thread.
private struct Run: ~Copyable {
  private static let patience = 30.0
  private let load: LoadGenerator
  private var idle: [Int] = []
  private var next = 0
  private var latencies: [UInt32] = []
  private var answers: [UInt32] = []
  private var begun: UInt64 = 0
  private var statuses: [Int: Int] = [:]
  private var unanswered = 0

  init(_ load: LoadGenerator) { self.load = load }

  consuming func run(_ requests: [[UInt8]]) throws -> LoadReport {
    // Boxed, since an array holds no noncopyable value.
    let connections = try (0..<load.connections).map {
      Box(try LoadConnection(port: load.port, from: load.sources[$0 % load.sources.count]))
    }
    idle = Array(connections.indices.reversed())
    latencies.reserveCapacity(requests.count)
    answers.reserveCapacity(requests.count)
    let start = Self.now()
    begun = start
    let end = start + UInt64(load.seconds * 1e9)
    var polled = connections.map { pollfd(fd: $0.connection.descriptor, events: 0, revents: 0) }
    while true {
      let now = Self.now()
      try startDue(requests, connections, now: now, start: start, end: end)
      let isOver = next >= requests.count || now >= end
      if isOver && idle.count == connections.count { break }
      guard now < end + UInt64(Self.patience * 1e9) else {
        unanswered += connections.count - idle.count
        break
      }
      for index in connections.indices {
        polled[index].events = connections[index].connection.events
        polled[index].fd = connections[index].connection.descriptor
      }
      _ = unsafe poll(&polled, nfds_t(polled.count), timeout(now, start, isOver))
      for index in connections.indices where polled[index].revents != 0 && connections[index].connection.events != 0 {
        try note(connections[index].connection.proceed(), index, connections)
      }
    }
    let seconds = Double(Self.now() - start) / 1e9
    return LoadReport(
      latencies: latencies, answers: answers, statuses: statuses, unanswered: unanswered, seconds: seconds)
  }

  /// Gives idle connections what is due.
  private mutating func startDue(
    _ requests: [[UInt8]], _ connections: [Box], now: UInt64, start: UInt64, end: UInt64
  ) throws {
    while next < requests.count, now < end, let index = idle.last {
      let due = due(start, now)
      guard due <= now else { return }
      idle.removeLast()
      next += 1
      load.noteSent(next - 1, now)
      if connections[index].connection.isClosed { try connect(index, connections) }
      try note(connections[index].connection.start(requests[next - 1], due: due), index, connections)
    }
  }

  /// When the next request is due.
  private func due(_ start: UInt64, _ now: UInt64) -> UInt64 {
    switch load.pace {
    case .asFastAsAnswered: now
    case .perSecond(let rate): start + UInt64(next) * 1_000_000_000 / UInt64(rate)
    }
  }

  /// Milliseconds to wait for sockets at most.
  private func timeout(_ now: UInt64, _ start: UInt64, _ isOver: Bool) -> Int32 {
    switch load.pace {
    case .asFastAsAnswered: return 100
    case .perSecond:
      if isOver || idle.isEmpty { return 100 }
      let due = due(start, now)
      return due <= now ? 0 : Int32(min(100, (due - now) / 1_000_000))
    }
  }

  private mutating func note(_ progress: LoadConnection.Progress, _ index: Int, _ connections: [Box]) throws {
    switch progress {
    case .waiting: return
    case .answered(let status):
      statuses[status, default: 0] += 1
      let now = Self.now()
      latencies.append(UInt32(clamping: (now - connections[index].connection.due) / 1_000))
      answers.append(UInt32(clamping: (now - begun) / 1_000_000))
    case .broken:
      unanswered += 1
      try connect(index, connections)
    }
    idle.append(index)
  }

  private func connect(_ index: Int, _ connections: [Box]) throws {
    connections[index].connection = try LoadConnection(
      port: load.port, from: load.sources[index % load.sources.count])
  }

  private final class Box {
    var connection: LoadConnection

    init(_ connection: consuming LoadConnection) { self.connection = connection }
  }

  private static func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
