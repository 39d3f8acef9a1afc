import Runtime

extension String {
  /// One word of a command for a shell, whatever is in it.
  var shellQuoted: String { "'\(replacing("'", with: #"'\''"#))'" }
}

extension ParsedArguments {
  /// Options as this command line gives them, for another one: ` --limit '2'`; empty where it gives none.
  ///
  /// What the environment says is left out: the next command finds it there, and it may be a secret.
  func again(_ names: [String]) -> String {
    names.flatMap { name in valuesGiven(name).map { " --\(name) \($0.shellQuoted)" } }.joined()
  }
}
