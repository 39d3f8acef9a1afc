import JSON
import Ledger
import Operations
import Runtime
import Time

/// `switchyard outbox replay` and `dead`: resends dead messages, or drops waiting ones.
enum OutboxChange: Sendable {
  case replay, dead

  var command: Command {
    switch self {
    case .replay:
      make(
        "replay", "Requeue dead messages at their original position and retry for three more days.",
        [
          Command.Example("switchyard outbox replay --all"), Command.Example("switchyard outbox replay 9f86d081"),
          Command.Example("switchyard outbox replay --error 'answered 401' --newer-than 12h --dry-run"),
        ])
    case .dead:
      make(
        "dead", "Give up waiting messages, so that messages blocked behind them are sent.",
        [
          Command.Example("switchyard outbox dead 9f86d081"),
          Command.Example("switchyard outbox dead --class unproven --older-than 1h"),
          Command.Example("switchyard outbox dead --all --dry-run"),
        ])
    }
  }

  private func make(_ name: String, _ summary: String, _ examples: [Command.Example]) -> Command {
    Command(
      name, summary, discussion: "The messages themselves stay in the inbox. Doing it again changes nothing.",
      whenStopped: "Finished changes stay. Run it again to continue.",
      examples: examples,
      options: [
        .flag("all", "Every one of them."), OutboxCommand.app, EnvironmentOption.option,
      ] + OutboxFilter.options + [
        .flag("dry-run", "Say how many and change nothing."), JSONOutput.option,
      ],
      arguments: [Positional("DIGEST", count: .optional, OutboxCommand.digest)]
    ) { arguments, terminal in
      let prefix = try arguments.positionals.first.map { try DigestPrefix($0, arguments) }
      let filter = try OutboxFilter(arguments)
      guard [prefix != nil, arguments.flag("all"), !filter.isEmpty].count(where: \.self) == 1 else {
        throw UsageError(
          .missingArgument, "Say which: DIGEST, --all, or any of --class, --error, --older-than and --newer-than.",
          path: arguments.path)
      }
      let environment = try EnvironmentOption.environment(arguments)
      return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
        let operation = ReplayOrGiveUp(
          kind, app: arguments.value("app"), environment, prefix: prefix, filter: filter)
        let isDry = arguments.flag("dry-run")
        var (count, withoutRoom) = (0, 0)
        if isDry {
          count = try await operation.plan(clock: .system, on: connection)
        } else {
          let change = try await operation.apply(by: .ofCommand(), clock: .system, on: connection)
          (count, withoutRoom) = (change.changed, change.withoutRoom)
        }
        if arguments.wantsJSON {
          var summary: JSONObject = ["messages": .integer(Int64(count)), "dryRun": .bool(isDry)]
          if withoutRoom > 0 { summary["withoutRoom"] = .integer(Int64(withoutRoom)) }
          try terminal.write(summary.notingStop)
        } else {
          try terminal.write("\(isDry ? "would be: " : "")\(count) \(done)\n")
        }
        if withoutRoom > 0 {
          terminal.note(
            """
            \(withoutRoom) unproven messages stay dead: at most \(OutboxTable.mostUnproven) wait for a destination; \
            run it again when these are sent
            """)
        }
        return .done
      }
    }
  }

  private var done: String {
    switch self {
    case .replay: "to be sent again"
    case .dead: "given up"
    }
  }

  private var kind: ReplayOrGiveUp.Kind {
    switch self {
    case .replay: .replay
    case .dead: .giveUp
    }
  }
}
