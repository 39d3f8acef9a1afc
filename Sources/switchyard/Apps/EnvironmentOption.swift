import Purchases
import Runtime

/// `--environment`: Production or Sandbox, the two in which an app has a stage.
enum EnvironmentOption {
  static let option = Option.value("environment", "NAME", "Production or Sandbox.")

  /// Nil when none was given.
  static func environment(_ arguments: ParsedArguments) throws(UsageError) -> Environment? {
    guard let text = arguments.value(option.name) else { return nil }
    let known: [Environment] = [.production, .sandbox]
    guard let environment = known.first(where: { $0.rawValue.lowercased() == text.lowercased() }) else {
      throw UsageError(.invalidValue, "--environment is Production or Sandbox.", path: arguments.path)
    }
    return environment
  }

  static func required(_ arguments: ParsedArguments) throws(UsageError) -> Environment {
    guard let environment = try environment(arguments) else {
      throw UsageError(.missingOption, "Say --environment Production or Sandbox.", path: arguments.path)
    }
    return environment
  }
}
