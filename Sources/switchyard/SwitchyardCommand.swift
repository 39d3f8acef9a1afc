package import Runtime

/// The program: one command for each thing an operator does.
package enum SwitchyardCommand {
  package static let version = "1.0.0-beta.1"

  package static let command = Command(
    "switchyard", "Moves App Store back ends from verifyReceipt and Notifications V1 to their successors.",
    discussion: """
      Data goes to stdout, talk to stderr. Exit statuses: \
      \(ExitStatus.allCases.map { "\($0.rawValue) \($0.summary)" }.joined(separator: "; ")).
      """,
    examples: [
      Command.Example("switchyard jws verify notification.json", "is this body really Apple's?"),
      Command.Example("switchyard receipt inspect receipt.b64", "is this receipt, and what is in it?"),
      Command.Example("switchyard convert body.json", "what does it say, whichever generation it is of?"),
      Command.Example("switchyard fidelity receipt.b64 answer.json", "would our answer be Apple's?"),
      Command.Example("switchyard answer receipt.b64", "what would we answer to this receipt now?"),
      Command.Example("switchyard extract receipts.csv.gz > ids.jsonl", "what millions of receipts are worth"),
      Command.Example("switchyard migrate start receipts.csv.gz", "make them all history"),
      Command.Example("switchyard app add com.example.app --app-apple-id 1234567890"),
      Command.Example("switchyard explain com.example.app 2000000906235058", "why does this customer have no access?"),
      Command.Example("switchyard reconcile com.example.app --dry-run", "what did Apple say that never came?"),
      Command.Example("switchyard quarantine replay --all", "after what was wrong has been mended"),
      Command.Example("switchyard doctor", "what is wrong here, and what to do about it"),
    ],
    subcommands: [
      ServeCommand.command, DevCommand.command, JWSCommand.command, ReceiptCommand.command, ConvertCommand.command,
      FidelityCommand.command, AnswerCommand.command, ExtractCommand.command, MappingsCommand.command,
      AppCommand.command, APICommand.command,
      RolloutCommand.command, CompareCommand.command,
      ExplainCommand.command, OutboxCommand.command, ConsumptionCommand.command, InboxCommand.command,
      QuarantineCommand.command, ReconcileCommand.command, MigrateCommand.command, SeedsCommand.command,
      CompletenessCommand.command,
      DatabaseCommand.command, DoctorCommand.command, SimulateCommand.command,
    ]
  ).addingCompletion()

  /// Does what this process was called for.
  static func run() async -> ExitStatus {
    assert(command.problems.isEmpty, command.problems.joined(separator: "; "))
    let environment = ProcessEnvironment.variables(of: command)
    return await command.main(
      Array(CommandLine.arguments.dropFirst()), environment: environment, version: version,
      terminal: Terminal.process(environment: environment))
  }
}
