import Runtime

extension String {
  var shellQuoted: String { "'\(replacing("'", with: #"'\''"#))'" }
}

extension ParsedArguments {
  /// Returns the options of this command line for another one, such as ` --limit '2'`; empty without any.
  ///
  /// Environment variables are omitted: the next command reads them, and they may be secret.
  func again(_ names: [String]) -> String {
    names.flatMap { name in valuesGiven(name).map { " --\(name) \($0.shellQuoted)" } }.joined()
  }
}
