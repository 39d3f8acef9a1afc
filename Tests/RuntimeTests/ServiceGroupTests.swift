/// Swift Testing has an `ExitStatus` too.
typealias ExitStatus = Runtime.ExitStatus

/// A service in a closure.
private struct Part: Service {
  let name: String
  let body: @Sendable () async throws -> Void

  init(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
    self.name = name
    self.body = body
  }

  func run() async throws { try await body() }

  /// Runs until it is stopped and writes that down.
  static func waiting(_ name: String, _ diary: Diary) -> Self {
    Self(name) {
      await untilCancelled()
      diary.write("\(name) stopped")
    }
  }

  /// Does not listen when it is told to stop.
  static var stubborn: Self {
    Self("stubborn") { try await withCancellationShield { await untilCancelled() } }
  }
}

private final class Diary: Sendable {
  private let kept = Mutex<[String]>([])
  var entries: [String] { kept.withLock { $0 } }
  func write(_ entry: String) { kept.withLock { $0.append(entry) } }
}

/// Runs `action` when a line with `message` is logged.
private struct Trigger: LogHandler {
  let message: String
  let action: @Sendable () -> Void

  func log(_ record: LogRecord) { if record.message == message { action() } }
}

private struct Broken: Error, Equatable {}

private func group(
  _ services: [any Service], handler: any LogHandler = RecordingLogHandler(), grace: Interval = .seconds(60)
) -> ServiceGroup {
  ServiceGroup(services: services, logger: Logger(label: "group", handler: handler), gracePeriod: grace)
}

@Suite(.timeLimit(.minutes(15))) struct `A group of services` {
  private let diary = Diary()

  @Test func `stops the others in reverse order when one returns`() async throws {
    let outcome = try await group([
      Part.waiting("database", diary), Part.waiting("server", diary), Part("job") {}, Part.waiting("metrics", diary),
    ]).run()
    #expect(outcome == .finished(service: "job"))
    #expect(diary.entries == ["metrics stopped", "server stopped", "database stopped"])
  }

  @Test func `stops the others and rethrows when one fails`() async {
    let handler = RecordingLogHandler()
    await #expect(throws: Broken()) {
      try await group(
        [Part.waiting("database", diary), Part("server") { throw Broken() }], handler: handler
      ).run()
    }
    #expect(diary.entries == ["database stopped"])
    #expect(handler.messages == ["service failed", "stopping", "service ended"])
    #expect(handler.records[1].metadata == ["reason": "server failed"])
  }

  @Test func `rethrows what fails while it stops, unless it is the cancellation`() async throws {
    let late = Part("late") {
      await untilCancelled(); throw Broken()
    }
    await #expect(throws: Broken()) { try await group([late, Part("job") {}]).run() }
    let polite = Part("polite") {
      await untilCancelled(); throw CancellationError()
    }
    #expect(try await group([polite, Part("job") {}]).run() == .finished(service: "job"))
  }

  @Test func `waits for a service before it stops the one below`() async throws {
    let diary = diary
    let server = Part("server") {
      await untilCancelled()
      for _ in 0..<100 { await Task.yield() }
      diary.write("server drained")
    }
    try await group([Part.waiting("database", diary), server, Part("job") {}]).run()
    #expect(diary.entries == ["server drained", "database stopped"])
  }

  @Test func `ends when the task that runs it is cancelled`() async throws {
    let diary = diary
    let started = AsyncStream<Void>.makeStream()
    let task = Task {
      try await group([
        Part("server") {
          started.continuation.finish()
          await untilCancelled()
          diary.write("server stopped")
        }
      ]).run()
    }
    for await _ in started.stream {}
    task.cancel()
    #expect(try await task.value == .cancelled)
    #expect(diary.entries == ["server stopped"])
  }

  @Test func `was cancelled also where a service's end is heard first`() async throws {
    let services = (0..<50).map { number in Part("server \(number)") { await untilCancelled() } }
    for _ in 0..<20 {
      let task = Task { try await group(services).run() }
      await Task.yield()
      task.cancel()
      #expect(try await task.value == .cancelled)
    }
  }

  @Test func `without services is over at once`() async throws { #expect(try await group([]).run() == .cancelled) }

  @Test func `lets work finish behind a shield`() async throws {
    let diary = diary
    let job = Part("job") {
      await untilCancelled()
      try await withCancellationShield {
        try await Task.sleep(for: .milliseconds(1))
        diary.write("checkpoint, cancelled: \(Task.isCancelled)")
      }
    }
    try await group([job, Part("other") {}]).run()
    #expect(diary.entries == ["checkpoint, cancelled: false"])
  }

  @Test(arguments: [Signal.terminate, .interrupt])
  func `stops in order on a signal`(signal: Signal) async {
    let number = signal.number
    await #expect(processExitsWith: .exitCode(signal.exitCode)) { [number = number as Int32] in
      let diary = Diary()
      let outcome = try await group([
        Part.waiting("database", diary),
        Part("server") {
          kill(getpid(), number)
          await untilCancelled()
          diary.write("server stopped")
        },
      ]).run()
      guard case .stopped(let signal) = outcome, diary.entries == ["server stopped", "database stopped"] else {
        exit(99)
      }
      exit(ExitStatus(endedBy: signal).rawValue)
    }
  }

  @Test func `leaves at once on a second signal`() async {
    await #expect(processExitsWith: .exitCode(130)) {
      try await group(
        [Part.stubborn, Part("server") { kill(getpid(), SIGTERM) }],
        handler: Trigger(message: "stopping") {
          kill(getpid(), SIGINT)
          usleep(400_000)
          kill(getpid(), SIGINT)
        }
      ).run()
    }
  }

  /// As `timeout` sends them, to its command and then to the command's group.
  @Test func `takes two signals at once for one`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let outcome = try await group([
        Part("server") {
          kill(getpid(), SIGTERM)
          kill(getpid(), SIGTERM)
          await untilCancelled()
          usleep(100_000)
        }
      ]).run()
      exit(outcome == .stopped(by: .terminate) ? 0 : 99)
    }
  }

  @Test func `leaves with 1 when stopping takes too long`() async {
    await #expect(processExitsWith: .exitCode(1)) {
      try await group([Part.stubborn, Part("job") {}], grace: .milliseconds(20)).run()
    }
  }

  @Test func `leaves also when every thread is stuck in C`() async {
    await #expect(processExitsWith: .exitCode(1)) {
      let isSent = Atomic(false)
      let stuck = (0..<16).map { index in
        Part("stuck \(index)") {
          if !isSent.exchange(true, ordering: .relaxed) { kill(getpid(), SIGTERM) }
          while true { pause() }
        }
      }
      try await group(stuck, grace: .milliseconds(20)).run()
    }
  }

  @Test func `does not die of a broken pipe`() async {
    await #expect(processExitsWith: .exitCode(7)) {
      try await group([]).run()
      let pipe = try Pipe()
      close(pipe.reading)
      guard unsafe Glibc.write(pipe.writing, "x", 1) == -1, errno == EPIPE else { exit(99) }
      exit(7)
    }
  }
}

@Suite(.timeLimit(.minutes(15))) struct `A stream of signals` {
  @Test func `gives each signal that comes`() async {
    await #expect(processExitsWith: .exitCode(5)) {
      let signals = SignalSource.stream([.hangup])
      kill(getpid(), SIGHUP)
      for await signal in signals { exit(signal == .hangup ? 5 : 99) }
    }
  }

  @Test func `leaves a signal nobody listens to any more as deadly as it was`() async {
    await #expect(processExitsWith: .exitCode(143)) {
      SignalSource([.terminate]) { _ in exit(99) }.cancel()
      kill(getpid(), SIGTERM)
      await untilCancelled()
    }
  }

  @Test func `can be listened to again`() async {
    await #expect(processExitsWith: .exitCode(5)) {
      SignalSource([.terminate]) { _ in exit(99) }.cancel()
      let signals = SignalSource.stream([.terminate])
      kill(getpid(), SIGTERM)
      for await _ in signals { exit(5) }
    }
  }
}
