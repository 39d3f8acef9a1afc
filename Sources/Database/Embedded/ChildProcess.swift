import CMariaDB
import Dispatch
import Glibc
import Runtime
import Synchronization
import Time

/// A child process without inherited descriptors, in its own session.
///
/// A dedicated thread starts it and waits for it. The kernel's parent death signal requires this: it comes when the
/// *thread* that started the child ends, and this one ends after the child.
final class ChildProcess: Sendable {
  struct Command: Sendable {
    var program: String
    /// The arguments after the program's name.
    var arguments: [String]
    /// `NAME=VALUE`.
    ///
    /// `nil`: the few variables that a server needs.
    var environment: [String]?
    var directory: String
    /// `nil`: this process's user.
    var user: ServerUser?
    /// The file for its output and errors, created if necessary.
    var output: String
    /// Whether its output is read by this process instead, from `ChildProcess.report`.
    var reports = false
    /// Whether the kernel kills it when this process ends.
    ///
    /// It uses SIGKILL, since a starting server can lose SIGTERM, and no server may run unwatched. Committed data is on
    /// disk.
    var endsWithUs = true
  }

  private enum State {
    case running([CheckedContinuation<Int32, Never>])
    case ended(Int32)
  }

  let id: pid_t
  /// The descriptor of its output, if it reports.
  ///
  /// The reader closes it.
  let report: Int32?
  private let state = Mutex(State.running([]))

  private init(id: pid_t, report: Int32?) {
    self.id = id
    self.report = report
  }

  /// Starts the process, which may not be ready yet.
  static func start(_ command: Command) async throws(EmbeddedServerError) -> ChildProcess {
    let result = await withCheckedContinuation { continuation in
      DedicatedThread.start { Self.live(command, continuation) }
    }
    return try result.get()
  }

  /// Returns its exit code, or 128 + the signal that ended it, as soon as it has ended.
  func ended() async -> Int32 {
    await withCheckedContinuation { continuation in
      let code: Int32? = state.withLock { state in
        switch state {
        case .ended(let code): return code
        case .running(let waiting):
          state = .running(waiting + [continuation])
          return nil
        }
      }
      if let code { continuation.resume(returning: code) }
    }
  }

  var isRunning: Bool {
    state.withLock { state in
      switch state {
      case .running: true
      case .ended: false
      }
    }
  }

  /// Sends a signal to the process and its children.
  ///
  /// Does nothing after its end, even if its number is reused.
  func send(_ signal: Int32) {
    state.withLock { state in
      switch state {
      case .running: _ = kill(-id, signal)  // It leads its own group.
      case .ended: break
      }
    }
  }

  /// Asks it to end every second, and kills it after `grace`.
  ///
  /// Repeated, since a starting mariadbd can lose the signal. Independent of tasks, which may be cancelled.
  func terminate(grace: Interval) {
    guard isRunning else { return }
    guard grace > .milliseconds(0) else { return send(SIGKILL) }
    send(SIGTERM)
    let pause = min(1_000, grace.milliseconds)
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(pause))) {
      self.terminate(grace: .milliseconds(grace.milliseconds - pause))
    }
  }

  private static func live(
    _ command: Command, _ started: CheckedContinuation<Result<ChildProcess, EmbeddedServerError>, Never>
  ) {
    let process: ChildProcess
    do throws(EmbeddedServerError) {
      process = try spawn(command)
    } catch {
      return started.resume(returning: .failure(error))
    }
    started.resume(returning: .success(process))
    child_process_await(process.id)
    // Collected under the lock: until then the number belongs to the child, and `send` cannot signal another process.
    let (code, waiting) = process.state.withLock { state in
      let code = child_process_collect(process.id)
      defer { state = .ended(code) }
      switch state {
      case .running(let waiting): return (code, waiting)
      case .ended: return (code, [])
      }
    }
    for continuation in waiting { continuation.resume(returning: code) }
  }

  private static func spawn(_ command: Command) throws(EmbeddedServerError) -> ChildProcess {
    let output = unsafe open(command.output, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard output >= 0 else { throw Files.failure("open", command.output) }
    defer { close(output) }
    var ends: [Int32] = [-1, -1]
    if command.reports, unsafe child_process_pipe(&ends) != 0 {
      throw Files.failure("make a pipe for", command.program)
    }
    defer { if command.reports { close(ends[1]) } }
    let environment =
      command.environment ?? ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=\(command.directory)"]
    let user = command.user.flatMap { $0.isAnother ? $0 : nil }
    var pid: pid_t = 0
    let reason = unsafe withCStrings([command.program] + command.arguments) { arguments in
      unsafe withCStrings(environment) { environment in
        unsafe command.program.withCString { program in
          unsafe command.directory.withCString { directory in
            var request = unsafe child_process_request(
              path: program, arguments: arguments, environment: environment, directory: directory,
              output: command.reports ? ends[1] : output, errors: output, becomes_user: user == nil ? 0 : 1,
              user: user?.id ?? 0, group: user?.group ?? 0, signal_at_parent_end: command.endsWithUs ? SIGKILL : 0)
            return unsafe child_process_start(&request, &pid)
          }
        }
      }
    }
    guard reason == 0 else {
      if command.reports { close(ends[0]) }
      let asUser = user.map { " as \($0.name)" } ?? ""
      let code = reason == EMFILE || reason == ENFILE ? EmbeddedServerError.Code.tooManyFiles : .startFailed
      throw unsafe EmbeddedServerError(
        code, "cannot start \(command.program)\(asUser): \(String(cString: strerror(reason)))")
    }
    return ChildProcess(id: pid, report: command.reports ? ends[0] : nil)
  }

  /// Passes the strings to C as a null-terminated array, valid during the body.
  private static func withCStrings<R>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> R
  ) -> R {
    let copies = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
    return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
  }
}
