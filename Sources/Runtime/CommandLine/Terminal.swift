import Glibc
import Synchronization

/// Where a command talks: data to stdout, everything else to stderr.
package struct Terminal: Sendable {
  /// The descriptor that a command reads as its stdin.
  @TaskLocal package static var input = STDIN_FILENO

  /// Why data could not be written; a command that lost data must not end with 0.
  package enum OutputError: Error, Equatable, CustomStringConvertible {
    /// The reader went away, as `| head` does.
    case closed
    case failed(reason: String)

    package var description: String {
      switch self {
      case .closed: "the output is no longer read"
      case .failed(let reason): "the output cannot be written: \(reason)"
      }
    }
  }

  package let isOutputTTY: Bool
  package let isErrorTTY: Bool
  package let width: Int
  /// Whether colour is wanted on stderr: a TTY that is not dumb, and no `NO_COLOR` (no-color.org).
  package let hasColor: Bool
  private let sink: @Sendable (Int32, [UInt8]) throws(OutputError) -> Void

  /// The terminal of this process.
  package static func process(environment: [String: String]) -> Self {
    let isErrorTTY = SystemCall.isTerminal(STDERR_FILENO)
    let columns = SystemCall.columns(of: STDOUT_FILENO) ?? environment["COLUMNS"].flatMap { Int($0) } ?? 80
    return Self(
      isOutputTTY: SystemCall.isTerminal(STDOUT_FILENO), isErrorTTY: isErrorTTY, width: max(columns, 20),
      hasColor: isErrorTTY && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb",
      sink: writeAll)
  }

  /// A terminal that keeps what it is told, for tests.
  package static func recording(width: Int = 80, isTTY: Bool = false) -> (Self, Recording) {
    let recording = Recording()
    let terminal = Self(isOutputTTY: isTTY, isErrorTTY: isTTY, width: width, hasColor: false) { descriptor, bytes in
      recording.append(bytes, to: descriptor)
    }
    return (terminal, recording)
  }

  /// The format of log lines that suits stderr.
  package var logFormat: LogFormat { isErrorTTY ? .human(color: hasColor) : .json }

  /// Writes data to stdout, all of it; on a terminal without anything that the terminal would obey.
  package func write(_ bytes: [UInt8]) throws(OutputError) {
    try sink(STDOUT_FILENO, isOutputTTY ? SafeText.escaped(lines: bytes) : bytes)
  }

  /// Writes text to stdout, without anything that a terminal would obey: it may hold what a stranger wrote.
  package func write(_ text: String) throws(OutputError) {
    try sink(STDOUT_FILENO, SafeText.escaped(lines: Array(text.utf8)))
  }

  /// The next line of stdin, without its end, up to 64 KiB; nil when there is none.
  package static func readLine() -> String? {
    var line: [UInt8] = []
    while line.count < 1 << 16, let byte = try? SystemCall.read(1, from: input).first {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// Says something on stderr; a newline is added, and nobody listening is no error.
  package func note(_ text: String) { try? sink(STDERR_FILENO, SafeText.escaped(lines: Array((text + "\n").utf8))) }

  /// Replaces the last line on stderr, for progress on a TTY; the next `note` stands after an empty one.
  package func noteInPlace(_ text: String) {
    try? sink(STDERR_FILENO, Array(("\r\u{1B}[K" + SafeText.escaped(text, limit: max(1, width - 2))).utf8))
  }

  /// From now on nothing ends the process because nobody reads what it writes: `write` throws `closed`.
  package static func outlivesItsReaders() { SystemCall.ignoreBrokenPipes() }

  private static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) throws(OutputError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      do {
        rest = rest.dropFirst(try SystemCall.write(rest, to: descriptor))
      } catch {
        switch error.number {
        case EPIPE: throw .closed
        case EAGAIN where SystemCall.awaitWritable(descriptor, milliseconds: -1): continue
        default: throw .failed(reason: error.description)
        }
      }
    }
  }

  /// What a recording terminal was told.
  package final class Recording: Sendable {
    private let kept = Mutex<[Int32: [UInt8]]>([:])

    package var output: String { text(STDOUT_FILENO) }
    package var notes: String { text(STDERR_FILENO) }

    fileprivate func append(_ bytes: [UInt8], to descriptor: Int32) {
      kept.withLock { $0[descriptor, default: []] += bytes }
    }

    private func text(_ descriptor: Int32) -> String {
      String(decoding: kept.withLock { $0[descriptor] ?? [] }, as: UTF8.self)
    }
  }
}
