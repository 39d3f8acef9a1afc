import Runtime

enum SimulateCommand {
  static let command = Command(
    "simulate", "Make a simulated App Store, in files or served.",
    discussion: """
      --generate writes a whole world into --out: receipts.csv (app,user_id,receipt), notifications.jsonl (a V2 body a \
      line), truth.jsonl (the truth about each customer) and world.json (the roots to trust and the apps). --port serves an \
      App Store of the same customers: both generations of every interface, for clients and receivers of notifications. It \
      writes receipts.csv and truth.jsonl too; DIR/world.json says where it is and what to trust, one line on stdout says \
      when it is ready, SIGTERM ends it. The same seed, apps, number of customers and --as-of make the same \
      world in both; keys are new each time, unless --port has --keep.
      """,
    whenStopped: "Only whole lines were written; start it again for the complete output.",
    examples: [
      Command.Example("switchyard simulate --generate --seed 7 --customers 1000 --app com.example.app --out world"),
      Command.Example("switchyard simulate --port 8090 --seed 7 --customers 100 --app com.example.app --out world"),
      Command.Example("switchyard simulate control --out world advance days=30"),
    ],
    options: [.value("out", "PATH", "Where the world is written; files of the same names are replaced.")]
      + WorldOptions.options + SimulateGenerate.options + SimulateServe.options,
    subcommands: [SimulateControl.command],
    action: run)

  @Sendable private static func run(_ arguments: ParsedArguments, _ terminal: Terminal) async throws -> ExitStatus {
    if arguments.value("port") != nil { return try await SimulateServe(arguments).run(terminal) }
    guard arguments.flag("generate") else {
      throw UsageError(.missingCommand, "Say which: control, --generate or --port.", path: arguments.path)
    }
    return try await SimulateGenerate(arguments).run(terminal)
  }
}
