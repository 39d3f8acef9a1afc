import Runtime
import Testing
import switchyard

/// What `--help` shows first has to be right: every example of every command, held against the parser.
@Suite struct `The examples of every command` {
  private static func all(_ command: Command, _ path: [String] = []) -> [(path: [String], command: Command)] {
    [(path, command)] + command.subcommands.flatMap { all($0, path + [$0.name]) }
  }

  private static let commands = all(Switchyard.command)

  /// The words of the call in a line, as a shell would split it.
  private static func words(_ line: String) -> [String] {
    var (words, word, isQuoted): ([String], String?, Bool) = ([], nil, false)
    for character in line {
      if character == "'" || character == "\"" {
        isQuoted.toggle()
        word = word ?? ""
      } else if !isQuoted, "|<>();".contains(character) {
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
      guard case .help(let text) = try Switchyard.command.parse(path + ["--help"]) else {
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
          switch try Switchyard.command.parse(Self.words(example.line)) {
          case .run(_, let parsed):
            #expect(Array(parsed.path.dropFirst().prefix(path.count)) == path, "\(example.line)")
          case .help, .version: Issue.record("it does nothing: \(example.line)")
          }
        } catch { Issue.record("\(example.line): \(error)") }
      }
    }
  }
}
