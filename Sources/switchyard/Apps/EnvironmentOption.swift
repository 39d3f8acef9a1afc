import Purchases
import Runtime

/// `--environment`: production, sandbox or all, in any case; both where it is not given.
enum EnvironmentOption {
  static let option = Option.value("environment", "NAME", "production, sandbox or all. Default: all.")

  /// Nil for all.
  static func environment(_ arguments: ParsedArguments) throws(UsageError) -> Environment? {
    guard let text = arguments.value(option.name), text.lowercased() != "all" else { return nil }
    let known: [Environment] = [.production, .sandbox]
    guard let environment = known.first(where: { $0.rawValue.lowercased() == text.lowercased() }) else {
      throw UsageError(.invalidValue, "--environment is production, sandbox or all.", path: arguments.path)
    }
    return environment
  }

  /// The environments that are meant.
  static func environments(_ arguments: ParsedArguments) throws(UsageError) -> [Environment] {
    try environment(arguments).map { [$0] } ?? [.production, .sandbox]
  }

  /// The environments that are named: no change is made in one by accident.
  static func named(_ arguments: ParsedArguments) throws(UsageError) -> [Environment] {
    guard arguments.value(option.name) != nil else {
      throw UsageError(.missingOption, "Say --environment production, sandbox or all.", path: arguments.path)
    }
    return try environments(arguments)
  }
}
