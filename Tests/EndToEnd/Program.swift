/// The program as an operator calls it: a command in this process, or a process of its own.
struct Program: Sendable {
  /// What a run of it came to.
  struct Outcome: Sendable {
    let status: Int32
    let output: String
    let notes: String

    /// The lines of the output, each read as a JSON object.
    var objects: [JSONObject] {
      get throws {
        try output.split(separator: "\n").map { line in
          guard let object = try JSONReader.read(Array(line.utf8)).object else { throw NotAnObject(line: "\(line)") }
          return object
        }
      }
    }
  }

  struct NotAnObject: Error {
    let line: String
  }

  struct CannotStart: Error {
    let path: String
    let reason: Int32
  }

  /// Where it was built: beside the tests.
  static let folder: String = {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return -1 }
      return unsafe readlink("/proc/self/exe", start.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    let own = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    return own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
  }()
  private static let path = folder + "/switchyard"

  static let limit = Interval.seconds(120)

  /// Options of every run: `--data-dir` or `--database`.
  var options: [String] = []
  var environment: [String: String] = [:]

  /// Whether each command is a process: it starts a private database, or has a clock of its own.
  var runsProcesses = false

  /// Runs a command to its end in this process, unless `runsProcesses`.
  func run(_ arguments: String..., input: [UInt8] = []) async throws -> Outcome {
    try await run(arguments, input: input)
  }

  /// - Parameter limit: after that it is cancelled or killed.
  func run(_ arguments: [String], input: [UInt8] = [], within limit: Interval = Self.limit) async throws -> Outcome {
    if runsProcesses { return try await process(arguments, input: input, within: limit) }
    let place = TemporaryDirectory()
    let file = place.file("input", input)
    let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CannotStart(path: file, reason: errno) }
    defer { close(descriptor) }
    let (terminal, recording) = Terminal.recording()
    let command = Task {
      // As the main thread of a process is: what blocks there keeps nothing else from running.
      await WorkerThread(label: "command").run {
        await Terminal.$input.withValue(descriptor) {
          await SwitchyardCommand.main(arguments + options, settings, terminal, signals: false)
        }
      }
    }
    let watch = Task {
      try await Task.sleep(for: .milliseconds(limit.milliseconds))
      command.cancel()
    }
    defer { watch.cancel() }
    let status = await command.value?.rawValue ?? ExitStatus.failed.rawValue
    return Outcome(status: status, output: recording.output, notes: recording.notes)
  }

  /// Runs a command to its end as a process; what it wrote, and how it ended (128 + signal when killed).
  ///
  /// - Parameter limit: after that it is killed.
  func process(
    _ arguments: [String], input: [UInt8] = [], within limit: Interval = Self.limit
  ) async throws -> Outcome {
    let place = TemporaryDirectory()
    try write(input, to: "\(place.path)/input")
    let id = try spawn(arguments + options, place.path)
    let status = await Self.ended(id, within: limit)
    return Outcome(
      status: status, output: Self.text("\(place.path)/output"), notes: Self.text("\(place.path)/notes"))
  }

  /// Many private databases are started at once: none takes a quarter of the memory.
  var settings: [String: String] { ["SWITCHYARD_DATABASE_MEMORY": "32M"].merging(environment) { $1 } }

  /// - Parameters:
  ///   - path: another program than `switchyard`.
  ///   - folders: where programs are looked for before the system's own.
  ///   - leadsGroup: whether it is alone in a process group of its own, as what a shell starts is.
  func spawn(
    _ arguments: [String], _ place: String, path: String = Self.path, searching folders: [String] = [],
    leadsGroup: Bool = false
  ) throws -> pid_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // A service in this process ignores SIGPIPE. A process must not inherit that.
    var pipe = sigset_t()
    unsafe sigemptyset(&pipe)
    unsafe sigaddset(&pipe, SIGPIPE)
    unsafe posix_spawnattr_setsigdefault(&attributes, &pipe)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | (leadsGroup ? POSIX_SPAWN_SETPGROUP : 0)))
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    let create = O_WRONLY | O_CREAT | O_TRUNC
    unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "\(place)/input", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "\(place)/output", create, 0o600)
    unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "\(place)/notes", create, 0o600)
    let search = (folders + ["/usr/sbin:/usr/bin:/sbin:/bin"]).joined(separator: ":")
    var variables = ["LC_ALL": "C", "PATH": search].merging(settings) { $1 }
    // Under scripts/coverage. Without the process ID in its name all runs of the program share one profile.
    let profile = unsafe getenv("LLVM_PROFILE_FILE").map { unsafe String(cString: $0) }
    variables["LLVM_PROFILE_FILE"] = profile?.replacing(".%p", with: "")
    let words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    let block = unsafe variables.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer { unsafe (words + block).forEach { unsafe free($0) } }
    var id: pid_t = 0
    let reason = unsafe posix_spawn(&id, path, &actions, &attributes, words, block)
    guard reason == 0 else { throw CannotStart(path: path, reason: reason) }
    return id
  }

  func write(_ bytes: [UInt8], to path: String) throws {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    guard file >= 0, unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else {
      throw CannotStart(path: path, reason: errno)
    }
  }

  /// Waits on a thread of its own; what does not end in time is ended.
  static func ended(_ id: pid_t, within limit: Interval = Self.limit) async -> Int32 {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "program").async {
        let deadline = ContinuousClock.now + .milliseconds(limit.milliseconds)
        var status: Int32 = 0
        while unsafe waitpid(id, &status, WNOHANG) == 0 {
          if ContinuousClock.now > deadline { kill(id, SIGKILL) }
          usleep(2_000)
        }
        continuation.resume(returning: status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
      }
    }
  }

  static func text(_ path: String) -> String {
    // What writes until it is stopped writes much while the test waits for its turn.
    String(decoding: Files.contents(of: path, limit: 1 << 30) ?? [], as: UTF8.self)
  }

  /// Whether anything is in a file, however much.
  static func hasText(_ path: String) -> Bool { Files.contents(of: path, limit: 1)?.isEmpty == false }
}

extension TemporaryDirectory {
  /// Puts a file there and gives its path.
  func file(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o600) -> String {
    let path = "\(path)/\(name)"
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    defer { close(file) }
    precondition(unsafe write(file, bytes, bytes.count) == bytes.count, "cannot write \(path)")
    return path
  }
}

extension Program {
  /// A size that `scripts/soak` gives by the environment; nil in a test.
  static func setting(_ name: String) -> Int? {
    guard let text = unsafe getenv(name) else { return nil }
    return unsafe Int(String(cString: text))
  }
}
