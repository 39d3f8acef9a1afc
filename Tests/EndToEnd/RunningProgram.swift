import Glibc
import JSON
import Support
import Time

/// `switchyard serve` as a process of its own: started, reached over HTTP, killed.
struct RunningProgram: Sendable {
  let id: pid_t
  /// Where it listens.
  let url: String
  private let place: TemporaryDirectory

  struct NotReady: Error {
    let notes: String
  }

  /// Starts it on a free port and waits until it says that it is ready.
  ///
  /// - Parameter leadsGroup: whether it is alone in a process group of its own.
  static func serve(
    _ program: Program, _ arguments: [String], leadsGroup: Bool = false
  ) async throws -> RunningProgram {
    let place = TemporaryDirectory()
    try program.write([], to: "\(place.path)/input")
    let id = try program.spawn(
      ["serve", "--listen", "127.0.0.1:0"] + arguments + program.options, place.path, leadsGroup: leadsGroup)
    var url: String?
    let isReady = await eventually(within: .seconds(60)) {
      let line = Program.text("\(place.path)/output")
      url = try? JSONReader.read(Array(line.utf8)).object?["url"]?.string
      return url != nil
    }
    guard isReady, let url else {
      kill(id, SIGKILL)
      _ = await Program.ended(id)
      throw NotReady(notes: Program.text("\(place.path)/notes"))
    }
    return RunningProgram(id: id, url: url, place: place)
  }

  /// Ends it with a signal and waits; its exit status.
  @discardableResult
  func end(_ signal: Int32) async -> Int32 {
    kill(id, signal)
    return await Program.ended(id)
  }

  /// Waits until it has ended; its exit status.
  func ended() async -> Int32 { await Program.ended(id) }

  /// Its log so far.
  var notes: String { Program.text("\(place.path)/notes") }

  /// The most memory it ever had in RAM, in bytes.
  var peakMemory: Int {
    let lines = Program.text("/proc/\(id)/status").split(separator: "\n")
    let line = lines.first { $0.hasPrefix("VmHWM:") } ?? ""
    return (Int(line.filter(\.isNumber)) ?? 0) * 1_024
  }
}
