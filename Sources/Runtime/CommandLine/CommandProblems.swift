extension Command {
  /// What is wrong with the declarations of this command and those below it; a test holds that there is nothing.
  package var problems: [String] { problems(path: [], inherited: []) + ambiguousOptions }

  /// Options of one name of which one is a flag and another takes a value, or whose values are called by two words.
  private var ambiguousOptions: [String] {
    Dictionary(grouping: allOptions, by: \.name).filter { Set($0.value.map(\.placeholder)).count > 1 }.keys.sorted().map
    {
      "--\($0) means one thing in one command and another elsewhere"
    }
  }

  private var allOptions: [Option] { options + subcommands.flatMap(\.allOptions) }

  private func problems(path: [String], inherited: [Option]) -> [String] {
    let path = path + [name]
    let scope = inherited + options
    var found: [String] = []
    if !Self.isName(name) { found.append("the name is not lower-case words joined by \"-\"") }
    if summary.isEmpty { found.append("there is no summary") }
    if action != nil && examples.isEmpty { found.append("there is no example") }
    for example in examples where !(example.line + " ").contains(path.joined(separator: " ") + " ") {
      found.append("the example \"\(example.line)\" does not call it")
    }
    for option in options {
      if !Self.isName(option.name) { found.append("the name of --\(option.name) is not lower-case words") }
      if option.placeholder != nil, Self.looksSecret(option.name) {
        found.append("--\(option.name) would show a secret in ps: take --\(option.name)-file")
      }
      if ["help", "version"].contains(option.name) || scope.count(where: { $0.name == option.name }) > 1 {
        found.append("--\(option.name) is declared twice")
      }
      if let short = option.short, short == "h" || scope.count(where: { $0.short == short }) > 1 {
        found.append("-\(short) is declared twice")
      }
    }
    for (index, positional) in positionals.enumerated().dropLast() {
      if positional.isRepeated || positional.minimum == 0 && positionals[index + 1].minimum > 0 {
        found.append("\(positional.name) leaves nothing to those after it")
      }
    }
    if !groups.isEmpty, groups.flatMap(\.commands).sorted() != shownCommands.map(\.name).sorted() {
      found.append("the groups of the help name other commands than there are, or one twice")
    }
    if Set(subcommands.map(\.name)).count < subcommands.count { found.append("two commands have one name") }
    return found.map { "\(path.joined(separator: " ")): \($0)" }
      + subcommands.flatMap { $0.problems(path: path, inherited: scope) }
  }

  private static func isName(_ text: String) -> Bool {
    guard let first = text.first, first.isLetter else { return false }
    return text.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-") }
  }

  private static func looksSecret(_ name: String) -> Bool {
    ["password", "secret", "token", "key", "passphrase"].contains { name == $0 || name.hasSuffix("-" + $0) }
  }
}
