/// README.md: each command in it exists, and each link leads to a file.
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

  @Test func `the commands for an app come in connect-app.md in the same order`() throws {
    let readme = page.blocks.flatMap { $0.commands.split(separator: "\n").map(String.init) }
    let quick = readme.drop { !$0.hasPrefix("switchyard app add com.example.app --app-apple-id") }.map(Self.verb)
    #expect(quick.count == 5)
    let steps = try Runbook("connect-app").blocks.filter { $0.heading == "Do" }.map(\.commands)
    var rest = steps.prefix { !$0.contains("Server URL") }.flatMap(Runbook.commands).map(Self.verb)[...]
    for verb in quick {
      rest = rest.drop { $0 != verb }
      #expect(rest.popFirst() == verb)
    }
  }

  /// The words before the first value: `app legacy-url`.
  private static func verb(_ command: String) -> [String] {
    Array(
      `The examples of every command`.words(command).prefix {
        $0.allSatisfy { $0.isLetter || $0 == "-" } && $0.first != "-"
      })
  }
}
