/// What runbooks name beside what is typed: in their tables, where nobody would notice that it is gone.
@Suite struct `The words of the runbooks` {
  private static let pages = ProjectFile.paths(below: "runbooks") + ["docs/rate-limits.md"]

  private static let runbooks = pages.filter { $0.hasPrefix("runbooks/") && !$0.hasSuffix("README.md") }

  @Test(arguments: runbooks) func `are in the form of a runbook, in at most 60 lines`(page: String) throws {
    let lines = try ProjectFile.text(page).split(separator: "\n", omittingEmptySubsequences: false)
    for lead in ["**Alert:** ", "**Effect:** ", "**You need:** "] {
      #expect(lines.contains { $0.hasPrefix(lead) }, "\(page): \(lead)")
    }
    #expect(try Runbook(page: page).headings == Runbook.headings, "\(page)")
    // The text ends with a line break.
    #expect(lines.count <= 61, "\(page)")
  }

  @Test func `are those of every page`() {
    #expect(Self.pages.count > 12 && Self.pages.contains("runbooks/bulk-migration.md"))
  }

  /// What stands between two backquotes.
  private func spans(_ page: String) throws -> [String] {
    let text = try ProjectFile.text(page)
    return text.split(separator: "\n").filter { !$0.hasPrefix("```") }.flatMap { line in
      line.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
        .map { String($0.element) }
    }
  }

  @Test(arguments: pages) func `are commands that there are`(page: String) throws {
    let calls = try spans(page).filter { $0.hasPrefix("switchyard ") && !$0.contains("…") }
    #expect(!calls.isEmpty)
    for call in calls {
      let words = `The examples of every command`.words(call)
      do throws(UsageError) {
        _ = try SwitchyardCommand.command.parse(words)
      } catch {
        // A command that is only named, without what it needs.
        var command: Command? = SwitchyardCommand.command
        for word in words { command = command?.subcommands.first { $0.name == word } }
        #expect(command != nil, "\(call): \(error)")
      }
    }
  }

  @Test func `are in the index, each page once as an answer`() throws {
    let index = try ProjectFile.text("runbooks/README.md")
    let links = index.split(separator: "\n").compactMap { line -> String? in
      guard line.hasSuffix(".md) |"), let begin = line.lastIndex(of: "(") else { return nil }
      return String(line[line.index(after: begin)...].dropLast(3))
    }
    #expect(links.count == Set(links).count && links.count >= 12)
    let named = Set(links.map { "runbooks/\($0)" })
    #expect(Set(Self.pages.filter { $0.hasPrefix("runbooks/") && !$0.hasSuffix("README.md") }).isSubset(of: named))
    for page in named { #expect(try ProjectFile.text(page).hasPrefix("# "), "\(page)") }
  }

  @Test(arguments: pages) func `are metrics that there are`(page: String) throws {
    let known = try [
      "Service/ServiceMetrics", "Reconciliation/ReconciliationMetrics", "Seeding/HistoryJobMetrics",
      "ConsumptionAnswers/ConsumptionResponder", "Shadow/ShadowMetrics", "Shadow/RolloutGuard",
      "Service/GuardWebhook",
    ].map { try ProjectFile.text("Sources/\($0).swift") }.joined()
    for name in try spans(page) where name.hasPrefix("switchyard_") {
      #expect(known.contains("\"\(name)\""), "\(page): \(name)")
    }
  }
}

/// What `--help` shows first has to be right: every example of every command, held against the parser.
@Suite struct `The examples of every command` {
  private static func all(_ command: Command, _ path: [String] = []) -> [(path: [String], command: Command)] {
    [(path, command)] + command.subcommands.flatMap { all($0, path + [$0.name]) }
  }

  private static let commands = all(SwitchyardCommand.command)

  /// The words of the call in a line, as a shell would split it.
  static func words(_ line: String) -> [String] {
    var (words, word, isQuoted): ([String], String?, Bool) = ([], nil, false)
    for character in line {
      if character == "'" || character == "\"" {
        isQuoted.toggle()
        word = word ?? ""
      } else if !isQuoted, "|<>();&".contains(character) {
        if let done = word { words.append(done) }
        word = nil
        // What follows is the shell's, or another program's.
        if words.contains("switchyard") { break }
      } else if character == " ", !isQuoted {
        if let done = word { words.append(done) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return Array(words.drop { $0 != "switchyard" }.dropFirst())
  }

  @Test func `are there, and come first in its help`() throws {
    #expect(Self.commands.count > 80)
    for (path, command) in Self.commands {
      guard case .help(let text) = try SwitchyardCommand.command.parse(path + ["--help"]) else {
        Issue.record("no help of \(path)")
        continue
      }
      let lines = text.split(separator: "\n")
      let examples = try #require(lines.firstIndex(of: "EXAMPLES"), "\(path)")
      let usage = try #require(lines.firstIndex(of: "USAGE"), "\(path)")
      #expect(examples < usage && !command.examples.isEmpty, "\(path)")
    }
  }

  @Test func `can be typed as they stand`() {
    for (path, command) in Self.commands {
      for example in command.examples {
        do throws(UsageError) {
          switch try SwitchyardCommand.command.parse(Self.words(example.line)) {
          case .run(_, let parsed):
            #expect(Array(parsed.path.dropFirst().prefix(path.count)) == path, "\(example.line)")
          case .help, .version: Issue.record("it does nothing: \(example.line)")
          }
        } catch { Issue.record("\(example.line): \(error)") }
      }
    }
  }
}
