import Glibc
import HTTPServer
import Runtime
import Synchronization
import Time

/// Answers that were made and signed beforehand, given out by URL: what is left of Apple when its own work is not to be
/// measured.
///
/// `Benchmarks --answers FILE` serves them: a port on the first line of its output, and when it is told to end how many
/// requests it knew and how many it did not.
final class FinishedAnswers: HTTPHandler {
  private let answers: [String: HTTPResponse]
  private let known = Atomic<Int>(0)
  private let unknown = Atomic<Int>(0)

  /// Reads what a `Writer` wrote.
  private init(_ file: String) throws {
    let bytes = try Input.read(file, limit: 16 << 30)
    var answers: [String: HTTPResponse] = [:]
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let words = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
      guard let count = words.first.flatMap({ Int($0) }) else { throw BenchmarkError("\(file) is damaged") }
      let response = HTTPResponse.json(200, Array(rest[(end + 1)...].prefix(count)))
      for target in words.dropFirst() { answers[String(target)] = response }
      rest = rest[(end + 1)...].dropFirst(count)
    }
    self.answers = answers
  }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard let answer = answers[request.rawTarget] else {
      unknown.add(1, ordering: .relaxed)
      return HTTPResponse(status: 404)
    }
    known.add(1, ordering: .relaxed)
    return answer
  }

  /// Serves a file until told to end.
  static func serve(_ file: String, _ terminal: Terminal) async throws {
    let answers = try FinishedAnswers(file)
    var limits = HTTPServerLimits()
    limits.connectionsPerAddress = nil
    let server = HTTPServer(
      HTTPServerConfiguration(port: 0, limits: limits, stopWithin: .seconds(1)), handler: answers)
    try server.start()
    try terminal.write("\(server.port)\n")
    let logger = Logger(
      label: "answers", level: .warning, handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
    _ = try await ServiceGroup(services: [Serving(server: server)], logger: logger).run()
    try terminal.write("\(answers.known.load(ordering: .relaxed)) \(answers.unknown.load(ordering: .relaxed))\n")
  }

  private struct Serving: Service {
    let server: HTTPServer

    func run() async throws { try await server.run() }
  }

  /// Each answer as a line of its length and the targets it answers, then its bytes.
  struct Writer {
    private let file: OutputFile

    init(_ path: String) throws { file = try OutputFile(path) }

    mutating func add(_ body: [UInt8], for targets: [String]) throws {
      try file.write(Array("\(body.count) \(targets.joined(separator: " "))\n".utf8) + body)
    }
  }

  /// A process that serves them.
  struct Server {
    let program: ChildProgram
    let url: String

    init(_ file: String) throws {
      program = try ChildProgram("\(ServedProcess.ownDirectory)/Benchmarks", ["--answers", file])
      guard let port = program.line() else { throw BenchmarkError("the finished answers are not served") }
      url = "http://127.0.0.1:\(port)"
    }

    /// Ends it; how many requests it answered, and how many it had no answer to.
    func stop() throws -> (known: Int, unknown: Int) {
      guard program.stop() == 0, let counts = program.line()?.split(separator: " ").compactMap({ Int($0) }),
        counts.count == 2
      else { throw BenchmarkError("the finished answers did not say how often they were asked for") }
      return (counts[0], counts[1])
    }
  }
}
