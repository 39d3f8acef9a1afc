import Database
import JSON
import Ledger
import Purchases
import Runtime
import Signing
import Time

/// `switchyard inbox`: what was accepted.
enum InboxCommand {
  static let command = Command(
    "inbox", "Look at accepted messages.", examples: [Command.Example("switchyard inbox show --limit 5")],
    options: DatabaseOptions.options, subcommands: [show])

  private static let show = Command(
    "show", "Show the newest messages, or those whose digest begins so.",
    examples: [
      Command.Example("switchyard inbox show --limit 5"),
      Command.Example("switchyard inbox show 9f86d081 --body", "one message as it came"),
    ],
    options: [
      .value("limit", "N", default: "20", "How many at most, 1 to 1000."),
      .flag("body", "Print each body as it came, instead of the list."), JSONOutput.option,
    ], arguments: [Positional("DIGEST", count: .optional, "The beginning of a message's SHA-256, at least 4 digits.")]
  ) { arguments, terminal in
    let prefix = try arguments.positionals.first.map { try DigestPrefix($0, arguments) }
    let limit = try arguments.integer("limit", in: 1...1_000) ?? 20
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let (messages, names) = try await connection.read { session throws(DatabaseError) in
        let apps = try AppTable.all(includingRemoved: true, in: session)
        return (
          try InboxTable.newest(limit: limit, digestPrefix: prefix?.bytes, in: session),
          Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
        )
      }
      let chosen = messages.filter { prefix?.matches($0.message.digest) ?? true }
      if let prefix, chosen.isEmpty { throw NoSuchMessage(where: "the inbox", prefix: prefix.text) }
      let withBody = arguments.flag("body")
      if arguments.wantsJSON {
        for stored in chosen { try terminal.write(json(stored, names, withBody: withBody)) }
      } else if withBody {
        for stored in chosen { try terminal.write(stored.message.body + [UInt8(ascii: "\n")]) }
      } else {
        try terminal.write(table(chosen, names).render(for: terminal))
      }
      return .done
    }
  }

  private static func table(_ messages: [StoredMessage], _ names: [App.ID: String]) -> TextTable {
    var table = TextTable([
      .init("RECEIVED"), .init("DIGEST"), .init("WHAT"), .init("APP"), .init("ENVIRONMENT"), .init("SIGNED"),
      .init("BYTES", .right),
    ])
    for stored in messages {
      table.add([
        stored.message.receivedAt.iso8601, String(stored.message.digest.hex.prefix(12)), stored.title,
        names[stored.app] ?? "?", stored.environment.rawValue, stored.signedAt?.iso8601 ?? "",
        "\(stored.message.body.count)",
      ])
    }
    return table
  }

  private static func json(_ stored: StoredMessage, _ names: [App.ID: String], withBody: Bool) -> JSONObject {
    let message = stored.message
    var object: JSONObject = [
      "digest": .string(message.digest.hex), "receivedAt": .integer(message.receivedAt.sinceEpoch),
      "kind": .string(message.kind.name), "title": .string(stored.title), "app": JSONValue(names[stored.app]),
      "environment": .string(stored.environment.rawValue), "signedAt": JSONValue(stored.signedAt?.sinceEpoch),
      "bytes": .integer(Int64(message.body.count)),
    ]
    if withBody { object["body"] = .string(String(decoding: message.body, as: UTF8.self)) }
    return object
  }
}

extension InboxMessage.Kind {
  var name: String {
    switch self {
    case .notification: "notification"
    case .evidence: "evidence"
    case .verifyReceiptAnswer: "verifyReceiptAnswer"
    case .apiAnswer: "apiAnswer"
    case .notificationHistory: "notificationHistory"
    }
  }
}

/// No message has a digest that begins so.
struct NoSuchMessage: ExitStatusError, CustomStringConvertible {
  let place: String
  let prefix: String

  init(where place: String, prefix: String) {
    self.place = place
    self.prefix = prefix
  }

  var exitStatus: ExitStatus { .failed }
  var description: String { "nothing in \(place) has a digest that begins with \(prefix)" }
}
