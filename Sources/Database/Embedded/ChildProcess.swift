import CMariaDB
import Dispatch
import Glibc
import Runtime
import Synchronization
import Time

/// A program we started, without any descriptor of ours, in a session of its own.
///
/// A thread of its own starts it and waits for it. That is what makes the kernel's "tell me when my parent ends"
/// sound: the signal comes when the *thread* that started the child ends, and this one ends after the child.
final class ChildProcess: Sendable {
  struct Command: Sendable {
    var program: String
    /// What it is told after its own name.
    var arguments: [String]
    /// `NAME=VALUE`; nil: the few that a server needs.
    var environment: [String]?
    var directory: String
    /// Nil: ours.
    var user: ServerUser?
    /// Where its output and its errors go; made if need be.
    var output: String
    /// Whether its output goes to us instead: `ChildProcess.report`.
    var reports = false
    /// Whether the kernel ends it when this process ends.
    ///
    /// By SIGKILL, which a server that is just starting cannot lose as it can lose SIGTERM: nothing may be left running
    /// unwatched. What was committed is on disk.
    var endsWithUs = true
  }

  private enum State {
    case running([CheckedContinuation<Int32, Never>])
    case ended(Int32)
  }

  let id: pid_t
  /// Where its output is read, when it reports; the reader closes it.
  let report: Int32?
  private let state = Mutex(State.running([]))

  private init(id: pid_t, report: Int32?) {
    self.id = id
    self.report = report
  }

  /// Started, which is not yet ready.
  static func start(_ command: Command) async throws(EmbeddedServerError) -> ChildProcess {
    let result = await withCheckedContinuation { continuation in
      DedicatedThread.start { Self.live(command, continuation) }
    }
    return try result.get()
  }

  /// Its exit code, or 128 + the signal that ended it; as soon as it has ended.
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

  /// Sends a signal to it and its children; nothing happens once it has ended, even if its number lives on elsewhere.
  func send(_ signal: Int32) {
    state.withLock { state in
      switch state {
      case .running: _ = kill(-id, signal)  // it leads a group of its own
      case .ended: break
      }
    }
  }

  /// Asks it to end, every second, and ends it when it has not after `grace`.
  ///
  /// Once is not enough: a mariadbd that is just starting can lose the signal. Does not depend on a task that may be
  /// cancelled.
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
    // Collected under the lock: until then the number is its own, and `send` cannot meet a stranger.
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

  /// The strings as C wants them: a null-terminated array, valid during the body.
  private static func withCStrings<R>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> R
  ) -> R {
    let copies = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
    return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
  }
}
