import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Signing
import Time

enum InboxCommand {
  static let command = Command(
    "inbox", "Look at accepted messages.", examples: [Command.Example("switchyard inbox show --limit 5")],
    options: DatabaseOptions.options, subcommands: [show])

  private static let show = Command(
    "show", "Show the newest messages, or those whose digest begins so.",
    examples: [
      Command.Example("switchyard inbox show --limit 5"),
      Command.Example("switchyard inbox show 9f86d081 --bodies", "one message, without secrets"),
    ],
    options: [
      .value("limit", "N", default: "20", "How many at most, 1 to 1000."),
      .flag("bodies", "Print each body as compact JSON, without secrets, instead of the list."), JSONOutput.option,
    ] + MasterKeyOptions.options,
    arguments: [Positional("DIGEST", count: .optional, "The beginning of a message's SHA-256, at least 4 digits.")]
  ) { arguments, terminal in
    let prefix = try arguments.positionals.first.map { try DigestPrefix($0, arguments) }
    let limit = try arguments.integer("limit", in: 1...1_000) ?? 20
    let options = try DatabaseOptions(arguments)
    return try await options.withLedger(terminal) { connection in
      let (messages, names) = try await connection.read { session throws(DatabaseError) in
        let apps = try AppTable.all(includingRemoved: true, in: session)
        return (
          try InboxTable.list(limit: limit, digestPrefix: prefix?.bytes, in: session),
          Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
        )
      }
      let chosen = messages.filter { prefix?.matches($0.digest) ?? true }
      if let prefix, chosen.isEmpty { throw NoSuchMessage(where: "the inbox", prefix: prefix.text) }
      var isWhole = true
      let withBody = arguments.flag("bodies")
      if withBody {
        let reader = try await SealedBodies(arguments, options, connection, terminal)
        for part in BodyPage.parts(of: chosen, size: \.size) {
          let (stored, unreadable) = try await connection.read { session throws(DatabaseError) in
            try BodyPage.read(part) { part throws(DatabaseError) in
              try InboxTable.messages(of: part, reader.vault, in: session)
            }
          }
          SealedBodies.tell(unreadable.map { ($0.digest, $1) }, terminal)
          isWhole = isWhole && unreadable.isEmpty
          let texts = Dictionary(stored.map { ($0.message.digest, $0.message.body) }) { first, _ in first }
          for message in part {
            guard let body = texts[message.digest].map(reader.shown) else { continue }
            if arguments.wantsJSON {
              try terminal.write(json(message, names, body: body))
            } else {
              try terminal.write(body + [UInt8(ascii: "\n")])
            }
          }
        }
      } else if arguments.wantsJSON {
        for message in chosen { try terminal.write(json(message, names)) }
      } else {
        try terminal.write(table(chosen, names).render(for: terminal))
      }
      return isWhole ? .done : .failed
    }
  }

  private static func table(_ messages: [InboxListing], _ names: [App.ID: String]) -> TextTable {
    var table = TextTable([
      .init("RECEIVED"), .init("DIGEST"), .init("WHAT"), .init("APP"), .init("ENVIRONMENT"), .init("SIGNED"),
      .init("BYTES", .right),
    ])
    for stored in messages {
      table.add([
        stored.receivedAt.iso8601, String(stored.digest.hex.prefix(12)), stored.title,
        names[stored.app] ?? "?", stored.environment.rawValue, stored.signedAt?.iso8601 ?? "",
        "\(stored.size)",
      ])
    }
    return table
  }

  private static func json(
    _ message: InboxListing, _ names: [App.ID: String], body: [UInt8]? = nil
  ) -> JSONObject {
    var object: JSONObject = [
      "digest": .string(message.digest.hex), "receivedAt": .integer(message.receivedAt.sinceEpoch),
      "kind": .string(message.kind.name), "title": .string(message.title), "app": JSONValue(names[message.app]),
      "environment": .string(message.environment.rawValue), "signedAt": JSONValue(message.signedAt?.sinceEpoch),
      "bytes": .integer(Int64(message.size)),
    ]
    if let body { object["body"] = .string(String(decoding: body, as: UTF8.self)) }
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
    case .verifiedReceipt: "verifiedReceipt"
    }
  }
}
