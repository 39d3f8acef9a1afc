/// A shell that is given one command after the other, as an operator types them; what one sets the next ones have.
struct TypingShell {
  /// A command failed, or did not end in time.
  struct Failed: Error {
    let command: String
    let output: String
    let notes: String
  }

  /// Printed after each command, and with the exit status when the shell has ended.
  private static let (mark, end): (Character, Character) = ("\u{1E}", "\u{1F}")

  /// A page polls every few seconds.
  ///
  /// A test need not wait so long.
  static let hurry = "sleep() { command sleep 0.2; }\n"

  private let place = TemporaryDirectory()
  private let id: pid_t
  private let input: Int32

  /// Starts one in which `switchyard` is this program.
  init(_ program: Program) throws {
    let pipe = "\(place.path)/input"
    guard unsafe mkfifo(pipe, 0o600) == 0 else { throw Program.CannotStart(path: pipe, reason: errno) }
    // For reading too: else opening it would wait for the shell, and the shell's opening for this one.
    input = unsafe open(pipe, O_RDWR | O_CLOEXEC)
    guard input >= 0 else { throw Program.CannotStart(path: pipe, reason: errno) }
    id = try program.spawn(
      ["--norc", "-eu", "-o", "pipefail", "-s"], place.path, path: "/bin/bash", searching: [Program.folder])
    try write(Self.hurry)
    try write("trap 'printf \"\u{1F}%s\" \"$?\"' EXIT\n")
  }

  /// Types a command and waits for its end; what it printed.
  func type(_ command: String) async throws -> String {
    let before = Program.text("\(place.path)/output").count { $0 == Self.mark }
    // Not from the pipe: a command that reads must not take the next ones.
    try write("{\n\(command)\n} </dev/null\nprintf '\u{1E}'\n")
    var output = ""
    _ = await eventually(within: .seconds(100)) {
      output = Program.text("\(place.path)/output")
      return output.count { $0 == Self.mark } > before || output.contains(Self.end)
    }
    let parts = output.split(separator: Self.mark, omittingEmptySubsequences: false)
    guard parts.count == before + 2, !output.contains(Self.end) else {
      throw Failed(command: command, output: String(parts.last ?? ""), notes: notes)
    }
    return String(parts[before])
  }

  var notes: String { Program.text("\(place.path)/notes") }

  /// Leaves it.
  func leave() async {
    try? write("exit\n")
    _ = await Program.ended(id, within: .seconds(10))
    close(input)
  }

  private func write(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard unsafe Glibc.write(input, bytes, bytes.count) == bytes.count else {
      throw Program.CannotStart(path: "\(place.path)/input", reason: errno)
    }
  }
}
