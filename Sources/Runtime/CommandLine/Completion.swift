/// The shells for which completion can be made.
package enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

/// Completion scripts made from the declarations, for `switchyard completion bash`.
///
/// All three work alike: walk the words to find the command, then offer its sub-commands and options, the choices of the
/// option or argument at hand, or files. Words are quoted for the shell although they are ours.
package struct Completion: Sendable {
  /// One place in the tree of commands.
  struct Node {
    let path: String
    let commands: [(name: String, summary: String)]
    let options: [Option]
    let choices: [String]
  }

  let program: String
  let nodes: [Node]

  package init(_ root: Command) {
    program = root.name
    nodes = Self.nodes(root, path: root.name, inherited: [Option.flag("help", short: "h", "Show help.")])
  }

  package func script(for shell: Shell) -> String {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  private static func nodes(_ command: Command, path: String, inherited: [Option]) -> [Node] {
    let scope = inherited + command.options.filter { !$0.isRetired }
    let node = Node(
      path: path, commands: command.shownCommands.map { ($0.name, $0.summary) }, options: scope,
      choices: command.positionals.flatMap(\.choices))
    return [node] + command.shownCommands.flatMap { nodes($0, path: "\(path) \($0.name)", inherited: scope) }
  }

  /// A word in single quotes, for any of the three shells.
  static func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "").replacing("'", with: "’").replacing("\n", with: " ") + "'"
  }

  /// The options that take a value, as alternatives of a `case`: `--root|-r`.
  static func pattern(_ options: [Option]) -> String {
    options.map { "--\($0.name)" + ($0.short.map { "|-\($0)" } ?? "") }.joined(separator: "|")
  }

  /// The same for one option, with the command before it: `'switchyard jws --root'|'switchyard jws -r'`.
  static func pattern(_ option: Option, at node: Node) -> String {
    pattern([option]).split(separator: "|").map { "'\(node.path) \($0)'" }.joined(separator: "|")
  }

  /// A name fit for a shell function.
  var function: String { "_" + program.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined() }
}

extension Command {
  /// This command with `completion SHELL` among its own.
  package func addingCompletion() -> Command {
    let base = self
    var root = self
    root.subcommands.append(
      Command(
        "completion", "Print the completion script for a shell.",
        examples: [
          Example("source <(\(name) completion bash)", "in ~/.bashrc"),
          Example("\(name) completion fish > ~/.config/fish/completions/\(name).fish"),
        ],
        arguments: [Positional("SHELL", choices: Shell.allCases.map(\.rawValue), "The shell to complete for.")]
      ) { arguments, terminal in
        guard let shell = arguments.positionals.first.flatMap(Shell.init) else { return .usage }
        try terminal.write(Completion(base.addingCompletion()).script(for: shell))
        return .done
      })
    return root
  }
}
