import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Signing
import Time

/// `switchyard consumption`: Apple's consumption requests and the responses to them.
enum ConsumptionCommand {
  static let command = Command(
    "consumption", "Look at Apple's consumption requests, and answer by hand.",
    discussion: """
      `switchyard app set APP --consumption` sets the automatic answer to requests that Apple signed. A \
      request of a V1 body is `claimed`: any holder of the shared secret can make one. Answer it by hand if it is genuine.
      """,
    examples: [
      Command.Example("switchyard consumption list --state waiting"),
      Command.Example("switchyard consumption list 2000000123456789"),
    ],
    options: DatabaseOptions.options,
    subcommands: [list, ConsumptionSettling.answer, ConsumptionSettling.decline])

  static let id = Positional(
    "ID", "The notification's UUID, or the transaction's id; of a request that names none, what `list` shows.")

  private static let list = Command(
    "list", "List the newest requests; of an ID show all that is known.",
    examples: [
      Command.Example("switchyard consumption list --app com.example.app --state expired"),
      Command.Example("switchyard consumption list 2000000123456789"),
    ],
    options: [
      .value("app", "APP", "Of this app only."),
      .value("state", "STATE", choices: ConsumptionRequestRecord.State.allCases.map(\.name), "In this state only."),
      .value("limit", "N", default: "50", "The largest number of rows."), JSONOutput.option,
    ], arguments: [Positional("ID", count: .optional, id.help)]
  ) { arguments, terminal in
    let state = ConsumptionRequestRecord.State.allCases.first { $0.name == arguments.value("state") }
    let limit = try arguments.integer("limit", in: 1...10_000) ?? 50
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      if let id = arguments.positionals.first { return try await show(id, arguments, terminal, connection) }
      var app: App?
      if let bundleID = arguments.value("app") { app = try await AppRecord.find(bundleID, connection).app }
      let (number, names) = (app?.id, try await names(connection))
      let found = try await connection.read { session throws(DatabaseError) in
        try ConsumptionTable.newest(of: number, state: state, limit: limit, in: session)
      }
      if arguments.wantsJSON {
        for one in found { try terminal.write(one.json(names)) }
        return .done
      }
      var table = TextTable([
        .init("APP"), .init("ENVIRONMENT"), .init("TRANSACTION"), .init("ASKED"), .init("STATE"), .init("UNTIL"),
        .init("WHY"),
      ])
      for one in found {
        table.add([
          names[one.scope.app] ?? "?", one.scope.environment.rawValue, one.name, one.askedAt.iso8601,
          one.state.name, one.deadline.iso8601, one.reason ?? "",
        ])
      }
      try terminal.write(table.render(for: terminal))
      return .done
    }
  }

  private static func show(
    _ id: String, _ arguments: ParsedArguments, _ terminal: Terminal, _ connection: Connection
  ) async throws -> ExitStatus {
    let found = try await ConsumptionCases.find(id, on: connection)
    let names = try await names(connection)
    for one in found {
      if arguments.wantsJSON {
        try terminal.write(one.json(names))
      } else {
        for member in one.json(names) where !member.value.isNull {
          try terminal.write("\(MemberText.line(member))\n")
        }
        try terminal.write("\n")
      }
    }
    return .done
  }

  static func names(_ connection: Connection) async throws -> [App.ID: String] {
    let apps = try await connection.read { session throws(DatabaseError) in
      try AppTable.all(includingRemoved: true, in: session)
    }
    return Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
  }
}

extension ConsumptionRequestRecord {
  func json(_ names: [App.ID: String]) -> JSONObject {
    [
      "app": JSONValue(names[scope.app]), "environment": .string(scope.environment.rawValue), "id": .string(id),
      "transactionId": JSONValue(transactionID), "originalTransactionId": JSONValue(originalTransactionID),
      "consumptionRequestReason": JSONValue(customerReason), "askedAt": .integer(askedAt.sinceEpoch),
      "deadline": .integer(deadline.sinceEpoch), "state": .string(state.name), "attempts": .integer(Int64(attempts)),
      "answer": answer.map { .object($0) } ?? .null, "reason": JSONValue(reason),
      "settledAt": JSONValue(settledAt?.sinceEpoch), "message": .string(message.hex),
    ]
  }
}
