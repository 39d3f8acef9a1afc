import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Signing
import Time

/// `switchyard outbox`: messages for destinations, and those that destinations rejected.
enum OutboxCommand {
  static let command = Command(
    "outbox", "See what waits to be forwarded; send it again or give it up.",
    examples: [
      Command.Example("switchyard outbox list"),
      Command.Example("switchyard outbox replay --all", "after the back end was fixed"),
    ],
    options: DatabaseOptions.options,
    subcommands: [list, OutboxChange.replay.command, OutboxChange.dead.command])

  static let app = Option.value("app", "APP", "Of this app only.")
  static let digest = "The beginning of a message's SHA-256, at least 4 digits."

  private static let list = Command(
    "list", "Count the waiting and dead messages of each destination, then list the oldest, or one DIGEST.",
    discussion: """
      STATE is waiting, sending (in flight), blocked (an earlier message of the same customer has to be delivered \
      first), delivered, or dead (given up; `switchyard outbox replay` sends it again).
      """,
    examples: [
      Command.Example("switchyard outbox list"), Command.Example("switchyard outbox list --state dead --limit 100"),
      Command.Example("switchyard outbox list 9f86d081", "the state of one message at each destination"),
    ],
    options: [
      app, EnvironmentOption.option,
      .value("state", "STATE", "waiting, delivered or dead; without it waiting and dead, of a DIGEST all."),
    ] + OutboxFilter.options + [
      .value("limit", "N", "How many are listed at most, 0 to 1000; 20, of a DIGEST 1000."), JSONOutput.option,
    ], arguments: [Positional("DIGEST", count: .optional, digest)]
  ) { arguments, terminal in
    let prefix = try arguments.positionals.first.map { try DigestPrefix($0, arguments) }
    let limit = try arguments.integer("limit", in: 0...1_000) ?? (prefix == nil ? 20 : 1_000)
    let states = try states(arguments, else: prefix == nil ? [.waiting, .dead] : [])
    let filter = try OutboxFilter(arguments)
    let environment = try EnvironmentOption.environment(arguments)
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let places = try await OutboxPlace.all(app: arguments.value("app"), environment, connection)
      let (depths, rows) = try await connection.read { session throws(DatabaseError) in
        var selection = OutboxTable.Selection()
        selection.destinations = places.map(\.destination.id)
        selection.states = states
        selection.digestPrefix = prefix?.bytes
        filter.narrow(&selection, at: WallClock.system.now())
        let rows =
          places.isEmpty
          ? []
          : try OutboxTable.rows(
            selection, newestFirst: selection.states == [.delivered], limit: limit, in: session
          ).filter { prefix?.matches($0.message) ?? true }
        return (try OutboxTable.depths(in: session), rows)
      }
      if let prefix, rows.isEmpty { throw NoSuchMessage(where: "the outbox", prefix: prefix.text) }
      if arguments.wantsJSON {
        for row in rows { try terminal.write(OutboxPlace.json(row, places)) }
        return .done
      }
      if prefix == nil { try terminal.write(counts(places, depths).render(for: terminal)) }
      guard !rows.isEmpty else { return .done }
      try terminal.write((prefix == nil ? "\n" : "") + table(rows, places).render(for: terminal))
      return .done
    }
  }

  private static func states(
    _ arguments: ParsedArguments, else standard: [OutboxTable.State]
  ) throws(UsageError) -> [OutboxTable.State] {
    guard let text = arguments.value("state") else { return standard }
    guard let state = OutboxTable.State.allCases.first(where: { $0.name == text }) else {
      throw UsageError(.invalidValue, "--state is waiting, delivered or dead.", path: arguments.path)
    }
    return [state]
  }

  private static func counts(_ places: [OutboxPlace], _ depths: [Destination.ID: OutboxDepth]) -> TextTable {
    var table = TextTable([
      .init("APP"), .init("ENVIRONMENT"), .init("DESTINATION"), .init("HOST"), .init("WAITING", .right),
      .init("OLDEST"), .init("DEAD", .right),
    ])
    for place in places {
      let (destination, depth) = (place.destination, depths[place.destination.id] ?? OutboxDepth())
      table.add([
        place.app, destination.scope.environment.rawValue, destination.name + (destination.isEnabled ? "" : " (off)"),
        destination.host, "\(depth.waiting)", depth.oldest?.iso8601 ?? "", "\(depth.dead)",
      ])
    }
    return table
  }

  private static func table(_ rows: [OutboxRow], _ places: [OutboxPlace]) -> TextTable {
    var table = TextTable([
      .init("DIGEST"), .init("APP"), .init("STATE"), .init("SINCE"), .init("ATTEMPTS", .right), .init("NEXT"),
      .init("LAST ERROR"),
    ])
    for row in rows {
      table.add([
        String(row.message.hex.prefix(12)), places.first { $0.destination.id == row.destination }?.app ?? "?",
        row.isLeased ? "sending" : row.isBlocked ? "blocked" : row.state.name, row.createdAt.iso8601, "\(row.attempts)",
        row.state == .waiting && !row.isBlocked ? row.dueAt.iso8601 : "", row.error ?? "",
      ])
    }
    return table
  }
}

extension OutboxTable.State {
  var name: String {
    switch self {
    case .waiting: "waiting"
    case .delivered: "delivered"
    case .dead: "dead"
    }
  }
}

extension OutboxPlace {
  static func json(_ row: OutboxRow, _ places: [OutboxPlace]) -> JSONObject {
    let place = places.first { $0.destination.id == row.destination }
    return [
      "digest": .string(row.message.hex), "app": JSONValue(place?.app),
      "environment": JSONValue(place?.destination.scope.environment.rawValue),
      "destination": JSONValue(place?.destination.name), "state": .string(row.state.name),
      "isLeased": .bool(row.isLeased), "isBlocked": .bool(row.isBlocked), "class": JSONValue(row.proof?.name),
      "attempts": .integer(Int64(row.attempts)),
      "createdAt": .integer(row.createdAt.sinceEpoch), "dueAt": .integer(row.dueAt.sinceEpoch),
      "error": JSONValue(row.error),
    ]
  }
}
