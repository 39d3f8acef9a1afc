/// A command that runs in this process until it ends or is cancelled, such as `serve`.
struct CommandTask: Sendable {
  private let task: Task<Int32, Never>
  private let recording: Terminal.Recording
  private let place = TemporaryDirectory()

  /// Starts the command.
  ///
  /// It ignores signals.
  init(_ program: Program, _ arguments: [String]) throws {
    let (terminal, recording) = Terminal.recording()
    // Stays open: a log handler may outlive the command.
    let log = unsafe open(place.file("log", []), O_WRONLY | O_APPEND | O_CLOEXEC)
    guard log >= 0 else { throw Program.CannotStart(path: place.path, reason: errno) }
    self.recording = recording
    task = Task {
      // A command may block the main thread of its process. Here it gets its own thread.
      await WorkerThread(label: "command").run {
        await LogSink.$standardError.withValue(LogSink(descriptor: log)) {
          await SwitchyardCommand.main(
            arguments + program.options, program.settings, terminal, signals: false)
        }
      }?.rawValue ?? ExitStatus.failed.rawValue
    }
  }

  /// Cancels the command, waits for its end and returns its exit status.
  @discardableResult
  func end() async -> Int32 {
    task.cancel()
    return await task.value
  }

  var output: String { recording.output }

  /// The text on stderr and the log.
  var notes: String { recording.notes + Program.text("\(place.path)/log") }
}
