import Glibc
import Runtime

package struct SupervisorProgram: Sendable {
  package var path: String
  package var arguments: [String]
  package var environment: [String]

  package init(path: String, arguments: [String], environment: [String]) {
    self.path = path
    self.arguments = arguments
    self.environment = environment
  }
}

/// A started supervisor until it reports the result of its start.
///
/// It then continues independently, and its events are read while both live.
struct SupervisorProcess {
  private let process: ChildProcess
  private let reports: AsyncStream<SupervisorReport>
  private let log: String

  /// Starts the supervisor.
  ///
  /// The closure receives the server's events, on its own thread.
  static func start(
    _ program: SupervisorProgram, _ paths: EmbeddedPaths, tell: @escaping @Sendable (EmbeddedServer.Event) -> Void
  ) async throws(EmbeddedServerError) -> Self {
    try ErrorLog.prepare(paths.keeperLog)
    let process = try await ChildProcess.start(
      ChildProcess.Command(
        program: program.path, arguments: program.arguments, environment: program.environment, directory: paths.home,
        user: nil, output: paths.keeperLog, reports: true, endsWithUs: false))
    guard let report = process.report else { throw EmbeddedServerError(.misuse, "a keeper has to report") }
    return Self(process: process, reports: reading(report, tell), log: paths.keeperLog)
  }

  /// Waits until its database responds.
  ///
  /// Returns false if another supervisor was faster. It returns immediately if the task is cancelled, and the
  /// supervisor then finds no users.
  func isReady() async throws(EmbeddedServerError) -> Bool {
    for await report in reports {
      switch report {
      case .event(.started): return true
      case .event: continue
      case .failed(let error):
        if case .inUse = error.code { return false }
        throw error
      }
    }
    if Task.isCancelled { return false }
    let code = await process.ended()
    throw EmbeddedServerError(
      .startFailed, "the process that keeps the database ended with \(code)\n\(ErrorLog.end(of: log))")
  }

  /// Returns the reports as they arrive.
  ///
  /// The descriptor is closed at their end.
  private static func reading(
    _ descriptor: Int32, _ tell: @escaping @Sendable (EmbeddedServer.Event) -> Void
  ) -> AsyncStream<SupervisorReport> {
    let (stream, continuation) = AsyncStream<SupervisorReport>.makeStream()
    // A thread for the reads, which end with the supervisor's output.
    DedicatedThread.start {
      var (pending, part): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 4_096))
      while true {
        let count = unsafe read(descriptor, &part, part.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        pending += part[..<count]
        while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
          let report = SupervisorReport(Array(pending[..<end]))
          pending.removeSubrange(...end)
          if case .event(let event) = report { tell(event) }
          if let report { continuation.yield(report) }
        }
      }
      close(descriptor)
      continuation.finish()
    }
    return stream
  }
}
