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
  /// Its commands by what they are for, in the order of the help; without groups they are listed in their own order.
  package private(set) var groups: [Group] = []
  package let action: Action?
  /// What stays and how to go on when a signal stops it, or one below it that has no note of its own; nil: any signal
  /// ends it at once.
  package let stopNote: String?
  /// Whether help, completion and errors leave it out: it is for the program itself to call.
  package let isHidden: Bool

  /// A command that does something; the options of the commands above it are also accepted.
  ///
  /// - Parameter whenStopped: of a command that may run for longer than a second: whole sentences on what stays and how to
  ///   go on. SIGINT and SIGTERM then cancel it (`CommandShutdown`).
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

  /// A heading of the help, and the names of the commands below it.
  package typealias Group = (title: String, commands: [String])

  /// The same with a help in groups, which a call without any word shows.
  package func grouped(_ groups: [Group]) -> Self {
    var grouped = self
    grouped.groups = groups
    return grouped
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
  /// Another name that is taken, and told to nobody.
  package let formerly: String?
  package let help: String

  package static func flag(
    _ name: String, short: Character? = nil, environment: String? = nil, formerly: String? = nil, _ help: String
  ) -> Self {
    Self(
      name: name, short: short, placeholder: nil, choices: [], repeats: false, fallback: nil,
      environment: environment, formerly: formerly, help: help)
  }

  /// A flag that says nothing any more: it is taken, and told to nobody.
  package static func retired(_ name: String) -> Self { flag(name, "") }

  var isRetired: Bool { help.isEmpty }

  /// An option with a value; `default` and the environment variable step in when it is not given, in the reverse order.
  ///
  /// The variable of one that repeats has its values between commas.
  package static func value(
    _ name: String, _ placeholder: String, short: Character? = nil, repeats: Bool = false, choices: [String] = [],
    default fallback: String? = nil, environment: String? = nil, formerly: String? = nil, _ help: String
  ) -> Self {
    Self(
      name: name, short: short, placeholder: placeholder, choices: choices, repeats: repeats, fallback: fallback,
      environment: environment, formerly: formerly, help: help)
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
