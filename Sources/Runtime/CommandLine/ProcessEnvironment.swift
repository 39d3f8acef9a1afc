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

  /// Everything that this process was given, as `NAME=VALUE`, for a program that it starts; nothing whose name begins
  /// with `prefix`.
  package static func inherited(without prefix: String) -> [String] {
    var entry = unsafe environ
    var variables: [String] = []
    while let text = unsafe entry.pointee {
      let variable = unsafe String(cString: text)
      if !variable.hasPrefix(prefix) { variables.append(variable) }
      unsafe entry += 1
    }
    return variables
  }

  /// The file of the running program; the kernel's link to it when it was replaced or removed since.
  package static var program: String {
    let link = "/proc/self/exe"
    guard let path = unsafe realpath(link, nil) else { return link }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }

  /// Host and process id, as in `web-1:4121`.
  package static var name: String {
    var host = [CChar](repeating: 0, count: 256)
    let isKnown = unsafe gethostname(&host, host.count - 1) == 0
    let text = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return "\(isKnown && !text.isEmpty ? text : "localhost"):\(getpid())"
  }

  private static func names(_ command: Command) -> [String] {
    command.options.compactMap(\.environment) + command.subcommands.flatMap(names)
  }
}
