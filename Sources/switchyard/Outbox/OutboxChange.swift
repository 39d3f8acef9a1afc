import Database
import JSON
import Ledger
import Purchases
import Runtime
import Signing
import Time

/// `switchyard outbox replay` and `dead`: sends dead messages again, or gives waiting ones up.
enum OutboxChange: Sendable {
  case replay, dead

  var command: Command {
    switch self {
    case .replay:
      make(
        "replay", "Requeue dead messages at their original position and retry for three more days.",
        [
          Command.Example("switchyard outbox replay --all"), Command.Example("switchyard outbox replay 9f86d081"),
          Command.Example("switchyard outbox replay --reason 'answered 401' --newer-than 12 --dry-run"),
        ])
    case .dead:
      make(
        "dead", "Give up waiting messages, so that messages blocked behind them are sent.",
        [
          Command.Example("switchyard outbox dead 9f86d081"),
          Command.Example("switchyard outbox dead --class unproven --older-than 1"),
          Command.Example("switchyard outbox dead --all --dry-run"),
        ])
    }
  }

  private func make(_ name: String, _ summary: String, _ examples: [Command.Example]) -> Command {
    Command(
      name, summary, discussion: "The messages themselves stay in the inbox. Doing it again changes nothing.",
      whenStopped: "What was changed stays so. Run it again to go on.",
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
          .missingArgument, "Say which: DIGEST, --all, or any of --class, --reason, --older-than and --newer-than.",
          path: arguments.path)
      }
      let environment = try EnvironmentOption.environment(arguments)
      return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
        let places = try await OutboxPlace.all(app: arguments.value("app"), environment, connection)
        let count = try await run(places, prefix, filter, isDry: arguments.flag("dry-run"), connection)
        if let prefix, count == 0, !Task.isCancelled {
          throw NoSuchMessage(where: "what \(selected)", prefix: prefix.text)
        }
        if arguments.wantsJSON {
          let isDry = arguments.flag("dry-run")
          let summary: JSONObject = ["messages": .integer(Int64(count)), "dryRun": .bool(isDry)]
          try terminal.write(summary.notingStop)
        } else {
          try terminal.write("\(arguments.flag("dry-run") ? "would be: " : "")\(count) \(done)\n")
        }
        return .done
      }
    }
  }

  private static let page = 500

  private var done: String {
    switch self {
    case .replay: "to be sent again"
    case .dead: "given up"
    }
  }

  private var selected: String {
    switch self {
    case .replay: "is dead in the outbox"
    case .dead: "waits in the outbox"
    }
  }

  private var state: OutboxTable.State {
    switch self {
    case .replay: .dead
    case .dead: .waiting
    }
  }

  /// How many were changed, page by page, each with its note in the audit.
  private func run(
    _ places: [OutboxPlace], _ prefix: DigestPrefix?, _ filter: OutboxFilter, isDry: Bool, _ connection: Connection
  ) async throws -> Int {
    var selection = OutboxTable.Selection()
    filter.narrow(&selection, at: WallClock.system.now())
    let which = prefix?.text ?? (filter.isEmpty ? "--all" : filter.summary)
    selection.destinations = places.map(\.destination.id)
    selection.states = [state]
    selection.digestPrefix = prefix?.bytes
    guard !places.isEmpty else { return 0 }
    var (count, last) = (0, Int64(0))
    while !Task.isCancelled {
      let (chosen, after) = (selection, last)
      let rows = try await connection.read { session throws(DatabaseError) in
        try OutboxTable.rows(chosen, after: after, limit: Self.page, in: session)
      }
      guard let end = rows.last else { return count }
      last = end.sequence
      let sequences = rows.filter { prefix?.matches($0.message) ?? true }.map(\.sequence)
      count += isDry || sequences.isEmpty ? sequences.count : try await change(sequences, which, connection)
    }
    return count
  }

  private func change(_ sequences: [Int64], _ which: String, _ connection: Connection) async throws -> Int {
    let (now, actor) = (WallClock.system.now(), OperatingSystemUser.name)
    return try await connection.transaction { session throws(DatabaseError) in
      let count: Int
      switch self {
      case .replay: count = try OutboxTable.replay(sequences, at: now, in: session)
      case .dead: count = try OutboxTable.giveUp(sequences, at: now, in: session)
      }
      let reason = "\(which): \(count) messages"
      switch self {
      case .replay:
        try AuditTable.note("outbox.replay", of: "outbox", by: actor, because: reason, at: now, in: session)
      case .dead: try AuditTable.note("outbox.dead", of: "outbox", by: actor, because: reason, at: now, in: session)
      }
      return count
    }
  }
}
