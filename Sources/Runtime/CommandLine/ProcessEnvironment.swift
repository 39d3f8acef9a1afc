import Glibc

/// The environment of this process, as far as a command line declares that it looks at it.
package enum ProcessEnvironment {
  /// The declared variables of `command` and those below it, and what a terminal looks at.
  package static func variables(of command: Command) -> [String: String] {
    var values: [String: String] = [:]
    for name in names(command) + ["NO_COLOR", "TERM", "COLUMNS"] {
      if let value = unsafe getenv(name) { values[name] = unsafe String(cString: value) }
    }
    return values
  }

  private static func names(_ command: Command) -> [String] {
    command.options.compactMap(\.environment) + command.subcommands.flatMap(names)
  }
}
