/// `switchyard serve`, started and reached over HTTP: as a process in stories, otherwise in this process.
struct RunningProgram: Sendable {
  private enum Run {
    case process(TemporaryDirectory)
    case task(CommandTask)
  }

  /// The ID of its process, 0 in this process.
  let id: pid_t
  /// Where it listens.
  let url: String
  private let run: Run

  struct NotReady: Error {
    let notes: String
  }

  /// Starts a process on a free port and waits until it says that it is ready.
  ///
  /// - Parameter leadsGroup: whether it is alone in a process group of its own.
  static func serve(
    _ program: Program, _ arguments: [String], leadsGroup: Bool = false
  ) async throws -> RunningProgram {
    let place = TemporaryDirectory()
    try program.write([], to: "\(place.path)/input")
    let id = try program.spawn(words(arguments) + program.options, place.path, leadsGroup: leadsGroup)
    if let url = await url(in: { Program.text("\(place.path)/output") }) {
      return RunningProgram(id: id, url: url, run: .process(place))
    }
    kill(id, SIGKILL)
    _ = await Program.ended(id)
    throw NotReady(notes: Program.text("\(place.path)/notes"))
  }

  /// Starts a service in this process on a free port and waits until it says that it is ready.
  static func inProcess(_ program: Program, _ arguments: [String] = []) async throws -> RunningProgram {
    let task = try CommandTask(program, words(arguments))
    if let url = await url(in: { task.output }) { return RunningProgram(id: 0, url: url, run: .task(task)) }
    await task.end()
    throw NotReady(notes: task.notes)
  }

  private static func words(_ arguments: [String]) -> [String] { ["serve", "--listen", "127.0.0.1:0"] + arguments }

  private static func url(in output: () -> String) async -> String? {
    var url: String?
    _ = await eventually(within: .seconds(60)) {
      url = try? JSONReader.read(Array(output().utf8)).object?["url"]?.string
      return url != nil
    }
    return url
  }

  /// Ends it and returns its exit status.
  ///
  /// A signal reaches only a process.
  @discardableResult
  func end(_ signal: Int32 = SIGTERM) async -> Int32 {
    switch run {
    case .process:
      kill(id, signal)
      return await Program.ended(id)
    case .task(let task): return await task.end()
    }
  }

  /// Waits until the process has ended; its exit status.
  func ended() async -> Int32 { await Program.ended(id) }

  /// Its log so far.
  var notes: String {
    switch run {
    case .process(let place): Program.text("\(place.path)/notes")
    case .task(let task): task.notes
    }
  }
}
