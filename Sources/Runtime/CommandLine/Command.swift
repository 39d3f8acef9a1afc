/// A command as a value: what it is called, what it takes, what it does.
///
/// Help, completion and errors come out of it.
package struct Command: Sendable {
  package typealias Action = @Sendable (ParsedArguments, Terminal) async throws -> ExitStatus

  package let name: String
  package let summary: String
  package let discussion: String
  package let examples: [Example]
  package let options: [Option]
  package let positionals: [Positional]
  package internal(set) var subcommands: [Command]
  package let action: Action?
  /// What stays and how to go on when a signal stops it, or one below it that has no note of its own; nil: any signal
  /// ends it at once.
  package let stopNote: String?
  /// Whether help, completion and errors leave it out: it is for the program itself to call.
  package let isHidden: Bool

  /// A command that does something; the options of the commands above it are also accepted.
  ///
  /// - Parameter whenStopped: of a command that may run for longer than a second: whole sentences on what stays and how to
  ///   go on. SIGINT and SIGTERM then cancel it (`CommandStop`).
  package init(
    _ name: String, _ summary: String, discussion: String = "", whenStopped stopNote: String? = nil,
    examples: [Example] = [], options: [Option] = [], arguments: [Positional] = [], isHidden: Bool = false,
    action: @escaping Action
  ) {
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.examples = examples
    self.options = options
    positionals = arguments
    subcommands = []
    self.action = action
    self.stopNote = stopNote
    self.isHidden = isHidden
  }

  /// A command that holds others, as `jws` in `switchyard jws verify`; `action` is for when none of them is named.
  package init(
    _ name: String, _ summary: String, discussion: String = "", whenStopped stopNote: String? = nil,
    examples: [Example] = [], options: [Option] = [], subcommands: [Command], action: Action? = nil
  ) {
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.examples = examples
    self.options = options
    positionals = []
    self.subcommands = subcommands
    self.action = action
    self.stopNote = stopNote
    isHidden = false
  }

  /// Its own commands that people are told of.
  var shownCommands: [Command] { subcommands.filter { !$0.isHidden } }

  /// A command line that works, and what it does; the first thing that `--help` shows.
  package struct Example: Sendable, ExpressibleByStringLiteral {
    package let line: String
    package let note: String

    package init(_ line: String, _ note: String = "") {
      self.line = line
      self.note = note
    }

    package init(stringLiteral value: String) { self.init(value) }
  }
}

/// A named argument: `--name VALUE`, `--name=VALUE`, or a flag `--name`.
///
/// A secret is never the value of an option (`ps` and the shell's history show it): take `--key-file`.
package struct Option: Sendable {
  package let name: String
  package let short: Character?
  /// What stands for the value in the help, nil for a flag.
  package let placeholder: String?
  package let choices: [String]
  package let repeats: Bool
  package let fallback: String?
  package let environment: String?
  package let help: String

  package static func flag(
    _ name: String, short: Character? = nil, environment: String? = nil, _ help: String
  ) -> Self {
    Self(
      name: name, short: short, placeholder: nil, choices: [], repeats: false, fallback: nil,
      environment: environment, help: help)
  }

  /// An option with a value; `default` and the environment variable step in when it is not given, in the reverse order.
  package static func value(
    _ name: String, _ placeholder: String, short: Character? = nil, repeats: Bool = false, choices: [String] = [],
    default fallback: String? = nil, environment: String? = nil, _ help: String
  ) -> Self {
    Self(
      name: name, short: short, placeholder: placeholder, choices: choices, repeats: repeats, fallback: fallback,
      environment: environment, help: help)
  }
}

/// An argument known by its place.
package struct Positional: Sendable {
  package enum Count: Sendable { case one, optional, any, atLeastOne }

  package let name: String
  package let count: Count
  package let choices: [String]
  package let help: String

  package init(_ name: String, count: Count = .one, choices: [String] = [], _ help: String) {
    self.name = name
    self.count = count
    self.choices = choices
    self.help = help
  }

  var minimum: Int {
    switch count {
    case .one, .atLeastOne: 1
    case .optional, .any: 0
    }
  }

  var isRepeated: Bool {
    switch count {
    case .one, .optional: false
    case .any, .atLeastOne: true
    }
  }

  /// As it stands in a usage line: `FILE`, `[FILE]`, `FILE…`, `[FILE…]`.
  var usage: String {
    let name = isRepeated ? name + "…" : name
    return minimum == 0 ? "[\(name)]" : name
  }
}
