import Dispatch
import Synchronization
import Time

/// The stop of a command that may run for long, by SIGINT or SIGTERM: declared with the command (`whenStopped`), carried
/// out by `Command.main`.
///
/// The first signal cancels the command's task. The command ends where that is safe and prints its summary as it does at
/// its end; then one line says what stays and how to go on, and the process ends with 130 or 143. When the command has not
/// ended within the patience, the line is printed and the process leaves. A second signal leaves at once, unless it comes
/// within `RepeatedSignalFilter.interval` of the first: it is the same one then. Both work while every thread is stuck in C.
package final class CommandShutdown: Sendable {
  /// Of the command that runs in this task; nil in one that any signal ends at once.
  @TaskLocal package static var current: CommandShutdown?

  private struct State {
    var signal: Signal?
    var repeats = RepeatedSignalFilter()
    var source: SignalSource?
    var task: Task<ExitStatus, any Error>?
    var hasEnded = false
    var saysNothing = false
    var summary: (@Sendable () -> Void)?
  }

  /// How long the summary may take to print where the command did not end in time, in milliseconds.
  private static let lastWords = 500

  private let name: String
  private let note: String
  private let terminal: Terminal
  private let patience: Interval
  private let state = Mutex(State())

  /// - Parameters:
  ///   - name: of the program.
  ///   - note: what stays and how to go on.
  init(_ name: String, _ note: String, _ terminal: Terminal, patience: Interval = .seconds(4)) {
    self.name = name
    self.note = note
    self.terminal = terminal
    self.patience = patience
  }

  /// The signal that stopped the command of this task; nil while none did.
  package static var signal: Signal? { current?.signal }

  /// The signal that stopped the command; nil while none did.
  ///
  /// For threads of their own, which belong to no task.
  package var signal: Signal? { state.withLock { $0.signal } }

  /// Has `summary` called once when a signal stops the command, before the line on what stays: also when the command does
  /// not end in time.
  ///
  /// For a command that may be held up by something slow; nil when its own summary was printed.
  package func summarize(_ summary: (@Sendable () -> Void)?) { state.withLock { $0.summary = summary } }

  /// Has the line on what stays left out, for a command whose summary says it on stderr as JSON.
  package func saysNothing() { state.withLock { $0.saysNothing = true } }

  /// Leaves the signals to somebody else, who already listens to them: a group of services.
  static func handOver() {
    guard let current else { return }
    let source = current.state.withLock { state in
      defer { state.source = nil }
      return state.source
    }
    source?.cancel()
  }

  /// Runs the command to its end, which a signal may bring about.
  func run(_ action: @escaping @Sendable () async throws -> ExitStatus) async throws -> ExitStatus {
    // A task of its own, which is awaited right here: a signal has to cancel it from a thread that is not Swift's. On the
    // main thread, where actions may block without keeping anything else from running.
    let task = Self.$current.withValue(self) { Task { @MainActor in try await action() } }
    state.withLock { $0.task = task }
    let source = SignalSource([.interrupt, .terminate]) { [self] signal in receive(signal) }
    state.withLock { state in if !state.hasEnded { state.source = source } }
    let result = await task.result
    let signal = state.withLock { state in
      state.hasEnded = true
      state.source = nil
      return state.signal
    }
    source.cancel()
    guard let signal else { return try result.get() }
    if case .failure(let error) = result, !(error is CancellationError) { terminal.note("\(name): \(error)") }
    say(signal)
    return ExitStatus(endedBy: signal)
  }

  private func receive(_ signal: Signal) {
    let (kind, task) = state.withLock { state in
      state.signal = state.signal ?? signal
      return (state.repeats.note(at: .now), state.task)
    }
    switch kind {
    case .first: task?.cancel()
    case .again: return
    case .second: SystemCall.leave(signal.exitCode)
    }
    DispatchQueue(label: "command stop").asyncAfter(deadline: .now() + .milliseconds(Int(patience.milliseconds))) {
      [self] in
      if state.withLock({ $0.hasEnded }) { return }
      // Where nobody reads stderr either, as in a pager, nothing can be said.
      DispatchQueue(label: "command end").asyncAfter(deadline: .now() + .milliseconds(Self.lastWords)) {
        SystemCall.leave(signal.exitCode)
      }
      say(signal, " The work in progress did not end in time.")
      SystemCall.leave(signal.exitCode)
    }
  }

  private func say(_ signal: Signal, _ more: String = "") {
    let (summary, saysNothing) = state.withLock { state in
      defer { state.summary = nil }
      return (state.summary, state.saysNothing)
    }
    summary?()
    if saysNothing { return }
    terminal.note("\(name): stopped by \(signal.name). \(note)\(more)")
  }
}
