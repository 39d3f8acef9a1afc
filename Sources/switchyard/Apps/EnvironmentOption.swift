import Purchases
import Runtime

/// `--environment`: production, sandbox or all, in any letter case; both by default.
enum EnvironmentOption {
  static let option = Option.value("environment", "NAME", "production, sandbox or all. Default: all.")

  /// Returns `nil` for all.
  static func environment(_ arguments: ParsedArguments) throws(UsageError) -> Environment? {
    guard let text = arguments.value(option.name), text.lowercased() != "all" else { return nil }
    let known: [Environment] = [.production, .sandbox]
    guard let environment = known.first(where: { $0.rawValue.lowercased() == text.lowercased() }) else {
      throw UsageError(.invalidValue, "--environment is production, sandbox or all.", path: arguments.path)
    }
    return environment
  }

  static func environments(_ arguments: ParsedArguments) throws(UsageError) -> [Environment] {
    try environment(arguments).map { [$0] } ?? [.production, .sandbox]
  }

  /// Returns the named environments.
  ///
  /// The option is required, so that no change affects an environment by accident.
  static func named(_ arguments: ParsedArguments) throws(UsageError) -> [Environment] {
    guard arguments.value(option.name) != nil else {
      throw UsageError(.missingOption, "Say --environment production, sandbox or all.", path: arguments.path)
    }
    return try environments(arguments)
  }
}
