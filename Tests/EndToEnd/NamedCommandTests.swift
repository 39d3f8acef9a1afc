/// Every command that a text of the project tells people to type, held against the parser.
@Suite struct `The commands that the project names` {
  private static let files =
    ["README.md", "CONTRIBUTING.md"]
    + ["docs", "runbooks", "scripts", "Sources"].flatMap { ProjectFile.paths(below: $0) }.filter {
      $0.hasSuffix(".md") || $0.hasSuffix(".swift") || $0.hasPrefix("scripts/")
    }

  /// What stands between two backquotes, and lines of shell.
  private static func calls(_ text: String, isShell: Bool) -> [String] {
    var calls: [String] = []
    let lines = text.replacing("\\\n", with: " ").split(separator: "\n")
    for line in lines {
      let line = String(line).replacing(#/\\\([^()]*(\([^()]*\)[^()]*)*\)/#, with: "X")
      let bare = line.drop { $0 == " " }
      if isShell, bare.hasPrefix("switchyard ") { calls.append(String(bare)) }
      for span in line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      where span.offset % 2 == 1 && span.element.hasPrefix("switchyard ") {
        calls.append(String(span.element))
      }
    }
    return calls
  }

  /// What is wrong with a call; nil where it names a command and options that there are, whatever it leaves out.
  private static func fault(_ call: String) -> UsageError? {
    let words = `The examples of every command`.words(call).prefix { !$0.hasPrefix("…") }
    do throws(UsageError) { _ = try SwitchyardCommand.command.parse(Array(words)) } catch {
      switch error.code {
      // Another word than of small letters stands for a command.
      case .unknownCommand where error.detail.split(separator: "\"").dropFirst().first?.first?.isLowercase != true:
        return nil
      case .unknownOption, .unexpectedValue, .unknownCommand: return error
      case .missingCommand, .missingValue, .repeated, .missingArgument, .unexpectedArgument, .invalidValue,
        .missingOption:
        return nil
      }
    }
    return nil
  }

  @Test func `are there, with the options that are named`() throws {
    var count = 0
    for path in Self.files {
      let isShell = path.hasSuffix(".md") || path.hasPrefix("scripts/")
      // The bucket's hash begins with words that are no call.
      for call in Self.calls(try ProjectFile.text(path), isShell: isShell) where !call.hasPrefix("switchyard bucket") {
        count += 1
        if let fault = Self.fault(call) { Issue.record("\(path): \(call): \(fault)") }
      }
    }
    #expect(count > 200)
  }
}
