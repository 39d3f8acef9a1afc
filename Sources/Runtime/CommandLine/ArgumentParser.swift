extension Command {
  /// What a command line asks for.
  package enum Invocation: Sendable {
    case run(Action, ParsedArguments)
    case help(String)
    case version
  }

  /// Reads a command line, its first word (the program's name) left out.
  ///
  /// `environment` is handed in: only the executable reads it. `--` ends the options, `-` is an ordinary argument,
  /// `help jws verify` is `jws verify --help`, and `--version` is understood on the root.
  package func parse(
    _ arguments: [String], environment: [String: String] = [:], width: Int = 80
  ) throws(UsageError) -> Invocation {
    var arguments = arguments
    if arguments.first == "help", !subcommands.contains(where: { $0.name == "help" }) {
      arguments = arguments.dropFirst() + ["--help"]
    }
    var parser = ArgumentParser(root: self, environment: environment)
    return try parser.parse(arguments, width: width)
  }
}

private struct ArgumentParser {
  private var command: Command
  private var path: [String]
  private var scope: [Option]
  /// The command's, or that of the nearest one above it that has one.
  private var stopNote: String?
  private let environment: [String: String]
  private var given: [String: [String]] = [:]
  private var positionals: [String] = []

  init(root: Command, environment: [String: String]) {
    command = root
    path = [root.name]
    scope = root.options
    stopNote = root.stopNote
    self.environment = environment
  }

  mutating func parse(_ arguments: [String], width: Int) throws(UsageError) -> Command.Invocation {
    var rest = arguments[...]
    var isOptionsEnded = false
    while let token = rest.popFirst() {
      if isOptionsEnded || token == "-" || !token.hasPrefix("-") {
        try takeWord(token, mayBeCommand: !isOptionsEnded)
      } else if token == "--" {
        isOptionsEnded = true
      } else if token == "--help" || token == "-h" {
        return .help(
          command.help(
            path: path, inherited: scope.dropLast(command.options.count),
            stopNote: command.action == nil ? nil : stopNote, width: width))
      } else if token == "--version", path.count == 1 {
        return .version
      } else if token.hasPrefix("--") {
        try takeLong(token, &rest)
      } else {
        try takeShort(token, &rest)
      }
    }
    guard let action = command.action else {
      if arguments.isEmpty, !command.groups.isEmpty {
        return .help(command.help(path: path, inherited: [], stopNote: nil, width: width))
      }
      throw error(.missingCommand, "Say which: \(command.shownCommands.map(\.name).joined(separator: ", ")).")
    }
    let named = Set(given.keys)
    try readEnvironment()
    try checkChoices()
    try checkPositionals()
    return .run(
      action,
      ParsedArguments(
        path: path, positionals: positionals, options: scope, given: given, named: named, stopNote: stopNote))
  }

  private mutating func takeWord(_ word: String, mayBeCommand: Bool) throws(UsageError) {
    guard command.action == nil || !command.subcommands.isEmpty, mayBeCommand else { return positionals.append(word) }
    guard let next = command.subcommands.first(where: { $0.name == word }) else {
      let names = command.shownCommands.map(\.name)
      throw error(
        .unknownCommand, "There is no command \(UsageError.shown(word)); there are \(names.joined(separator: ", ")).",
        suggestion: Suggestion.nearest(to: word, among: names))
    }
    command = next
    path.append(next.name)
    scope += next.options
    stopNote = next.stopNote ?? stopNote
  }

  private mutating func takeLong(_ token: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
    let parts = token.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = scope.first(where: { $0.name == name || $0.formerly == name }) else {
      throw error(
        .unknownOption, "There is no option \(UsageError.shown("--" + name)) here.",
        suggestion: Suggestion.nearest(to: name, among: scope.filter { !$0.isRetired }.map(\.name) + ["help"]).map {
          "--" + $0
        })
    }
    try take(option, value: parts.count > 1 ? String(parts[1]) : nil, &rest)
  }

  /// `-v`, `-vq` as `-v -q`, `-pVALUE` as `-p VALUE`.
  private mutating func takeShort(_ token: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
    var letters = token.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = scope.first(where: { $0.short == letter }) else {
        throw error(.unknownOption, "There is no option \(UsageError.shown("-\(letter)")) here.")
      }
      if option.placeholder != nil, !letters.isEmpty {
        return try take(option, value: String(letters), &rest)
      }
      try take(option, value: nil, &rest)
    }
  }

  private mutating func take(
    _ option: Option, value: String?, _ rest: inout ArraySlice<String>
  ) throws(UsageError) {
    var text = value
    if let placeholder = option.placeholder {
      // A word that looks like an option is one: a forgotten value must not swallow it.
      if text == nil, let next = rest.first, next == "-" || !next.hasPrefix("-") || Int(next) != nil {
        text = rest.removeFirst()
      }
      if text == nil {
        throw error(
          .missingValue, "--\(option.name) needs its value: --\(option.name)=\(placeholder).")
      }
      if !option.repeats, given[option.name] != nil {
        throw error(.repeated, "--\(option.name) is given twice.")
      }
    } else if value != nil {
      throw error(.unexpectedValue, "--\(option.name) is a flag and takes no value.")
    }
    // A choice counts in any case.
    let choice = option.choices.first { $0.lowercased() == text?.lowercased() }
    given[option.name, default: []].append(choice ?? text ?? "")
  }

  /// Fills in what was not given; a flag is set by 1, true or yes.
  private mutating func readEnvironment() throws(UsageError) {
    for option in scope where given[option.name] == nil {
      guard let variable = option.environment, let text = environment[variable], !text.isEmpty else { continue }
      if option.placeholder != nil {
        given[option.name] = option.repeats ? text.split(separator: ",").map(String.init) : [text]
      } else if ["1", "true", "yes"].contains(text) {
        given[option.name] = [""]
      } else if !["0", "false", "no"].contains(text) {
        throw ParsedArguments.invalid(variable, text, choices: ["1", "true", "yes", "0", "false", "no"], path: path)
      }
    }
  }

  private func checkChoices() throws(UsageError) {
    for option in scope where !option.choices.isEmpty {
      for text in given[option.name] ?? [] where !option.choices.contains(text) {
        throw ParsedArguments.invalid("--\(option.name)", text, choices: option.choices, path: path)
      }
    }
  }

  private func checkPositionals() throws(UsageError) {
    for (index, declared) in command.positionals.enumerated() {
      guard index < positionals.count else {
        if declared.minimum == 0 { return }
        throw error(.missingArgument, "Give \(declared.name): \(declared.help)")
      }
      let mine = declared.isRepeated ? positionals[index...] : positionals[index...index]
      for text in mine where !declared.choices.isEmpty && !declared.choices.contains(text) {
        throw ParsedArguments.invalid(declared.name, text, choices: declared.choices, path: path)
      }
      if declared.isRepeated { return }
    }
    if positionals.count > command.positionals.count {
      throw error(
        .unexpectedArgument, "Nothing is known to do with \(UsageError.shown(positionals[command.positionals.count])).")
    }
  }

  private func error(_ code: UsageError.Code, _ detail: String, suggestion: String? = nil) -> UsageError {
    UsageError(code, detail, suggestion: suggestion, path: path)
  }
}
