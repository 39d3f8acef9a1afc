import JSON
import Runtime
import Signing
import Simulator
import Time

/// `switchyard simulate`: what a simulated Apple sends, on stdout, for other programs to receive.
enum SimulateCommand {
  static let command = Command(
    "simulate", "Make what a simulated Apple sends and signs, for other programs to receive.",
    discussion: """
      story and stream print notifications signed by the simulated Apple of --data-dir, which is made at first use: trust \
      simulated-apple/root.der in it. `switchyard dev` with the same --data-dir does. --generate writes a whole world into \
      --out: receipts.csv (app,user_id,receipt), notifications.jsonl (a V2 body a line), truth.jsonl (what is true of each \
      customer) and world.json (the roots to trust and the apps). --port serves an App Store of the same customers: both \
      generations of every interface, for clients and receivers of notifications. It writes receipts.csv and truth.jsonl \
      too; DIR/world.json says where it is and what to trust, one line on stdout says when it is ready, SIGTERM ends it. The \
      same seed, apps, number of customers and --as-of tell the same in both; keys are new each time, unless --port is \
      told to --keep them. purchase prints one purchase in every form of either generation.
      """,
    whenStopped: "What was written is whole lines; start it again for all of it.",
    examples: [
      Command.Example("switchyard simulate --generate --seed 7 --customers 1000 --app com.example.app --out world"),
      Command.Example("switchyard simulate --port 8090 --seed 7 --customers 100 --app com.example.app --out world"),
      Command.Example("switchyard simulate control --out world advance days=30"),
      Command.Example("switchyard simulate stream --count 5"),
      Command.Example("switchyard simulate story --seed 7"),
    ],
    options: [
      .value(
        "data-dir", "DIRECTORY", default: ".switchyard", environment: "SWITCHYARD_DATA_DIR", "Where its keys are."),
      .value("out", "DIR", "Where --generate and --port write; files of the same names are replaced."),
    ] + WorldOptions.options + SimulateGenerate.options + SimulateServe.options,
    subcommands: [story, stream, SimulatePurchase.command, SimulateControl.command],
    action: run)

  @Sendable private static func run(_ arguments: ParsedArguments, _ terminal: Terminal) async throws -> ExitStatus {
    if arguments.value("port") != nil { return try await SimulateServe(arguments).run(terminal) }
    guard arguments.flag("generate") else {
      throw UsageError(
        .missingCommand, "Say which: story, stream, purchase, control, --generate or --port.", path: arguments.path)
    }
    return try await SimulateGenerate(arguments).run(terminal)
  }

  private static let story = Command(
    "story", "Print the story of two apps, mistakes and forgeries included.",
    discussion: """
      One JSON object a line: number, caption, body as Apple would post it, and what is to become of it (expectation, \
      and the code of the reason when it is to be refused).
      """,
    examples: [Command.Example("switchyard simulate story")]
  ) { arguments, terminal in
    let simulation = try Simulation(arguments)
    // As `dev --story`: what happened in the months before now.
    let start = simulation.now - .days(160)
    let forger = try ApplePKI.generate(at: simulation.now)
    for message in try Story.twoApps(seed: simulation.seed, start: start).told(by: simulation.pki, forger: forger) {
      try terminal.write(Self.json(message))
    }
    return .done
  }

  private static let stream = Command(
    "stream", "Print notifications of one app, as many as asked for.",
    discussion: "One body a line, as Apple would post it. Bundle id com.example.stream, Apple id 1234567.",
    examples: [
      Command.Example("switchyard simulate stream --count 1000 > bodies.jsonl"),
      Command.Example(
        "switchyard simulate stream --count 1 | curl --data-binary @- localhost:8080/notifications"),
    ],
    options: [.value("count", "N", default: "10", "How many, 1 to 1,000,000.")]
  ) { arguments, terminal in
    let simulation = try Simulation(arguments)
    let app = SimulatedApp(name: "Stream", bundleID: "com.example.stream", appAppleID: 1_234_567)
    var stream = try NotificationStream(
      seed: simulation.seed, app: app, pki: simulation.pki, start: simulation.now - .days(160))
    let count = try arguments.integer("count", in: 1...1_000_000) ?? 10
    var written = 0
    while written < count, !Task.isCancelled {
      try terminal.write(stream.next().body + [UInt8(ascii: "\n")])
      written += 1
    }
    if written < count { terminal.note("\(written) of \(count) notifications written") }
    return .done
  }

  /// What both need.
  private struct Simulation {
    let pki: ApplePKI
    let seed: UInt64
    let now = WallClock.system.now()

    init(_ arguments: ParsedArguments) throws {
      seed = UInt64(try arguments.integer("seed", in: 0...Int.max) ?? 1)
      pki = try SimulatedApple.pki(in: arguments.required("data-dir"), now: now)
    }
  }

  private static func json(_ message: Story.Message) -> JSONObject {
    let (expectation, code): (String, String?) =
      switch message.expectation {
      case .stored: ("stored", nil)
      case .duplicate: ("duplicate", nil)
      case .quarantined(let code): ("quarantined", code)
      case .refused(let code): ("refused", code)
      }
    return [
      "number": .integer(Int64(message.number)), "caption": .string(message.caption),
      "expectation": .string(expectation), "code": JSONValue(code), "app": JSONValue(message.notification?.bundleID),
      "title": JSONValue(message.notification?.title),
      "body": .string(String(decoding: message.body, as: UTF8.self)),
    ]
  }
}
