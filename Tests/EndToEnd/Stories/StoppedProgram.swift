/// A command that a signal met in the middle of its work.
struct StoppedProgram {
  let signal: Int32
  let status: Int32
  let output: String
  let notes: String
  /// How long it took to end.
  let length: Duration

  /// Runs a command and sends it a signal as soon as it handles signals and the condition holds.
  ///
  /// - Parameters:
  ///   - waitsForInput: whether it has to be waiting for its standard input, too.
  ///   - again: after how long the signal is sent a second time; nil: once alone.
  ///   - isUnderWay: looks at the directory with what it wrote so far: `output` and `notes`.
  static func run(
    _ program: Program, _ arguments: [String], input: String? = nil, _ signal: Int32, again: Duration? = nil,
    waitsForInput: Bool = false, when isUnderWay: (_ place: String) async throws -> Bool
  ) async throws -> StoppedProgram {
    let place = TemporaryDirectory()
    if let input {
      unsafe symlink(input, "\(place.path)/input")
    } else {
      try program.write([], to: "\(place.path)/input")
    }
    let id = try program.spawn(arguments + program.options, place.path)
    let isThere: Bool
    do {
      isThere = try await eventually {
        guard handles(signal, id), try await isUnderWay(place.path) else { return false }
        return !waitsForInput || readsInput(id)
      }
    } catch {
      kill(id, SIGKILL)
      _ = await Program.ended(id)
      throw error
    }
    #expect(isThere, "\(arguments): not under way: \(Program.text("\(place.path)/notes"))")
    let start = ContinuousClock.now
    kill(id, signal)
    if let again {
      // On a busy machine a sleep of no length may be a long one.
      if again > .zero { try await Task.sleep(for: again) }
      kill(id, signal)
    }
    let status = await Program.ended(id, within: .seconds(30))
    return StoppedProgram(
      signal: signal, status: status, output: Program.text("\(place.path)/output"),
      notes: Program.text("\(place.path)/notes"), length: ContinuousClock.now - start)
  }

  /// Whether a process has a handler for the signal: before, the signal would end it raw.
  private static func handles(_ signal: Int32, _ id: pid_t) -> Bool {
    let line = Program.text("/proc/\(id)/status").split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
    guard let mask = line?.split(separator: "\t").last.flatMap({ UInt64($0, radix: 16) }) else { return false }
    return mask & (1 << UInt64(signal - 1)) != 0
  }

  /// Whether one of its threads waits for its standard input: in `poll`, as x86-64 and arm64 number it.
  private static func readsInput(_ id: pid_t) -> Bool {
    Files.names(in: "/proc/\(id)/task").contains { thread in
      let call = Program.text("/proc/\(id)/task/\(thread)/syscall")
      return call.hasPrefix("7 ") || call.hasPrefix("73 ")
    }
  }

  /// The program leaves 4 or 5 seconds after the signal; a machine that is busy with other tests needs more.
  static let longest = Duration.seconds(15)

  /// Records an issue unless it ended as every long command does: soon, by the signal's status, with a word on what stays.
  func expectOrderlyStop(saying words: String, _ location: SourceLocation = #_sourceLocation) {
    let name = signal == SIGINT ? "SIGINT" : "SIGTERM"
    #expect(status == 128 + signal, "\(notes)", sourceLocation: location)
    #expect(length < Self.longest, "\(notes)", sourceLocation: location)
    #expect(notes.contains("switchyard: stopped by \(name). "), "\(notes)", sourceLocation: location)
    #expect(notes.contains(words), "\(notes)", sourceLocation: location)
  }

  /// The lines of the output, each read as a JSON object.
  var objects: [JSONObject] {
    get throws { try Program.Outcome(status: status, output: output, notes: notes).objects }
  }
}
