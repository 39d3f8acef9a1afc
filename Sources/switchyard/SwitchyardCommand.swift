package import Runtime

/// The program, with one command for each task of an operator.
package enum SwitchyardCommand {
  package static let version = "1.0.0-beta.1"

  package static let command = Command(
    "switchyard", "Moves App Store back ends from verifyReceipt and Notifications V1 to their successors.",
    discussion: "Exit status: \(ExitStatus.allCases.map { "\($0.rawValue) \($0.summary)" }.joined(separator: "; ")).",
    examples: ["switchyard doctor"],
    subcommands: [
      DevCommand.command, SimulateCommand.command, ServeCommand.command, DoctorCommand.command, AppCommand.command,
      DatabaseCommand.command, RolloutCommand.command, CompareCommand.command, MigrateCommand.command,
      ExplainCommand.command, AnswerCommand.command, InboxCommand.command, QuarantineCommand.command,
      OutboxCommand.command, ConsumptionCommand.command, SeedsCommand.command, ReconcileCommand.command,
      APICommand.command, JWSCommand.command, ReceiptCommand.command,
      ExtractCommand.command, ConvertCommand.command, FidelityCommand.command, MappingsCommand.command,
    ]
  ).addingCompletion().grouped([
    ("TRY", ["dev", "simulate"]), ("SET UP", ["serve", "doctor", "app", "db"]), ("ROLL OUT", ["rollout", "compare"]),
    ("MIGRATE", ["migrate"]), ("INVESTIGATE", ["explain", "answer", "inbox", "consumption", "seeds"]),
    ("REPAIR", ["quarantine", "outbox", "reconcile"]), ("APPLE'S API", ["api"]),
    ("OFFLINE", ["jws", "receipt", "extract", "convert", "fidelity", "mappings", "completion"]),
  ])

  static func run() async -> ExitStatus {
    assert(command.problems.isEmpty, command.problems.joined(separator: "; "))
    let environment = ProcessEnvironment.variables(of: command)
    return await main(
      Array(CommandLine.arguments.dropFirst()), environment, Terminal.process(environment: environment))
  }

  /// Runs a command line; with --json an error is an object on stdout, too.
  package static func main(
    _ arguments: [String], _ environment: [String: String], _ terminal: Terminal, signals: Bool = true
  ) async -> ExitStatus {
    await command.main(
      arguments, environment: environment, version: version, terminal: terminal, signals: signals
    ) { error in
      if arguments.contains("--\(JSONOutput.option.name)") { try terminal.write(ErrorDocument(error).json) }
    }
  }
}
