import Glibc
import Runtime
import Support
import Testing
import switchyard

/// README.md: each command in it exists, each link leads to a file, and its example runs.
@Suite struct ReadmeTests {
  private let text: String
  private let page: Runbook

  init() throws {
    text = try ProjectFile.text("README.md")
    page = try Runbook(page: "README.md")
  }

  /// Whether a command of this path exists.
  private func exists(_ words: some Sequence<String>) -> Bool {
    var command: Command? = SwitchyardCommand.command
    for word in words.prefix(while: { !$0.hasPrefix("-") && $0 == $0.lowercased() }) {
      command = command?.subcommands.first { $0.name == word }
    }
    return command != nil
  }

  @Test func `every command parses`() throws {
    let lines = page.blocks.flatMap { $0.commands.replacing("\\\n", with: "").split(separator: "\n") }
    let calls = lines.filter { $0.hasPrefix("switchyard ") }
    #expect(calls.count > 15)
    for call in calls {
      let end = [" #", " 2>", " >", " |", " &"].compactMap { call.firstRange(of: $0)?.lowerBound }.min()
      let words = `The examples of every command`.words(String(call[..<(end ?? call.endIndex)]))
      #expect(throws: Never.self, "\(call)") { try SwitchyardCommand.command.parse(words) }
    }
  }

  @Test func `every command that the text names exists`() {
    let roots = Set(SwitchyardCommand.command.subcommands.map(\.name))
    var named = 0
    for (index, line) in text.split(separator: "\n").enumerated() where !line.hasPrefix("```") {
      let spans = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      let isTable =
        line.hasPrefix("| service") || line.hasPrefix("| apps") || line.hasPrefix("| rollout")
        || line.hasPrefix("| bulk") || line.hasPrefix("| messages") || line.hasPrefix("| without")
      for (_, span) in spans.filter({ $0.offset % 2 == 1 }) {
        let words = span.split(separator: " ").map(String.init).drop { $0 == "switchyard" }
        guard let first = words.first, isTable || roots.contains(first) else { continue }
        named += 1
        #expect(exists(words), "line \(index + 1): \(span)")
      }
    }
    #expect(named > 20)
  }

  @Test func `every link leads to a file`() throws {
    let links = text.split(separator: "](").dropFirst().compactMap { $0.split(separator: ")").first.map(String.init) }
    #expect(links.count > 15)
    for link in links where link != "Examples" {
      #expect(throws: Never.self, "\(link)") { try ProjectFile.text(link) }
    }
  }

  @Test func `the example runs, and ends in a response from the ledger`() async throws {
    let place = TemporaryDirectory()
    let example = try #require(page.blocks.first { $0.commands.contains("switchyard simulate") }).commands
    let ports = [String(try Self.freePort()), String(try Self.freePort())]
    let script = example.replacing("8090", with: ports[0]).replacing("127.0.0.1:8080", with: "127.0.0.1:\(ports[1])")
      .replacing("switchyard serve", with: "switchyard serve --listen 127.0.0.1:\(ports[1])")
      .replacing("/tmp/try", with: "\(place.path)/try")
    // As in a shell that a person uses: a pipe's exit status is its last command's.
    let outcome = try await Program().shell("set +o pipefail\n\(script)\nwait\n")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.contains("Switchyard-Answered-By: ledger"), "\(outcome)")
    #expect(outcome.output.contains("user-0.0"), "\(outcome)")
  }

  /// A port of the loopback interface that was free a moment ago.
  private static func freePort() throws -> UInt16 {
    let listener = try SilentListener()
    listener.close()
    return listener.port
  }
}
