import Database
import JSON
import Ledger
import Operations
import Runtime
import Signing
import Time

enum QuarantineCommand {
  static let command = Command(
    "quarantine", "Look at refused messages, and replay them.",
    examples: [
      Command.Example("switchyard quarantine list"),
      Command.Example("switchyard quarantine replay --code unknownApp", "after the app was added"),
    ],
    options: DatabaseOptions.options, subcommands: [list, QuarantineReplay.command, QuarantinePurge.command])

  static let code = Option.value("code", "CODE", "Those refused for this reason only, as the list shows it.")
  static let digest = "The beginning of a message's SHA-256, at least 4 digits."

  private static let list = Command(
    "list", "Count refused messages by reason, then list the oldest; with a DIGEST show the bodies without secrets.",
    examples: [
      Command.Example("switchyard quarantine list"),
      Command.Example("switchyard quarantine list --code badSignature --limit 100"),
      Command.Example("switchyard quarantine list 9f86d081"),
    ],
    options: [
      code, .value("limit", "N", "How many are listed at most, 0 to 1000; 20, of a DIGEST 1000."), JSONOutput.option,
    ] + MasterKeyOptions.options,
    arguments: [Positional("DIGEST", count: .optional, digest)]
  ) { arguments, terminal in
    let prefix = try arguments.positionals.first.map { try DigestPrefix($0, arguments) }
    let code = arguments.value("code")
    let limit = try arguments.integer("limit", in: 0...1_000) ?? (prefix == nil ? 20 : 1_000)
    let options = try DatabaseOptions(arguments)
    return try await options.withLedger(terminal) { connection in
      if let prefix {
        return try await show(prefix, code: code, limit: limit, options, arguments, terminal, connection)
      }
      let (reasons, messages) = try await connection.read { session throws(DatabaseError) in
        (
          try QuarantineTable.reasons(in: session).filter { code == nil || $0.code == code },
          try QuarantineTable.list(after: nil, code: code, digestPrefix: nil, limit: limit, in: session)
        )
      }
      if arguments.wantsJSON {
        for message in messages { try terminal.write(message.json) }
        return .done
      }
      var counts = TextTable([.init("CODE"), .init("SOURCE"), .init("KEPT", .right), .init("OLDEST"), .init("NEWEST")])
      for reason in reasons {
        counts.add([reason.code, reason.source, "\(reason.count)", reason.oldest.iso8601, reason.newest.iso8601])
      }
      try terminal.write(counts.render(for: terminal))
      if messages.isEmpty { return .done }
      var table = TextTable([
        .init("RECEIVED"), .init("DIGEST"), .init("CODE"), .init("CLAIMS"), .init("REPLAYS", .right), .init("WHY"),
      ])
      for message in messages {
        table.add([
          message.receivedAt.iso8601, String(message.digest.hex.prefix(12)), message.code,
          message.claimedApp, "\(message.replays)", message.detail,
        ])
      }
      try terminal.write("\n" + table.render(for: terminal))
      let kept = reasons.reduce(0) { $0 + $1.count }
      if kept > messages.count { terminal.note("\(kept - messages.count) more; --limit shows more of them") }
      return .done
    }
  }

  private static func show(
    _ prefix: DigestPrefix, code: String?, limit: Int, _ options: DatabaseOptions, _ arguments: ParsedArguments,
    _ terminal: Terminal, _ connection: Connection
  ) async throws -> ExitStatus {
    let listed = try await connection.read { session throws(DatabaseError) in
      try QuarantineTable.list(after: nil, code: code, digestPrefix: prefix.bytes, limit: limit, in: session)
    }.filter { prefix.matches($0.digest) }
    guard !listed.isEmpty else { throw NoSuchMessage(where: "quarantine", prefix: prefix.text) }
    let reader = try await SealedBodies(arguments, options, connection, terminal)
    var isWhole = true
    for part in BodyPage.parts(of: listed, size: \.size) {
      let (messages, unreadable) = try await connection.read { session throws(DatabaseError) in
        try BodyPage.read(part) { part throws(DatabaseError) in
          try QuarantineTable.messages(of: part, reader.vault, in: session)
        }
      }
      SealedBodies.tell(unreadable.map { ($0.digest, $1) }, terminal)
      isWhole = isWhole && unreadable.isEmpty
      let texts = Dictionary(messages.map { ($0.message.digest, $0.message.body) }) { first, _ in first }
      for message in part {
        // Another command may have deleted it.
        guard let body = texts[message.digest].map(reader.shown) else { continue }
        try show(message, body, asJSON: arguments.wantsJSON, terminal)
      }
    }
    return isWhole ? .done : .failed
  }

  private static func show(
    _ message: QuarantineListing, _ body: [UInt8], asJSON: Bool, _ terminal: Terminal
  ) throws {
    if asJSON {
      var object = message.json
      object["body"] = .string(String(decoding: body, as: UTF8.self))
      try terminal.write(object)
    } else {
      terminal.note("\(message.digest.hex) received \(message.receivedAt.iso8601)")
      terminal.note("  \(message.code) (\(message.source)), replayed \(message.replays) times: \(message.plainDetail)")
      try terminal.write(body + [UInt8(ascii: "\n")])
    }
  }
}

extension QuarantineListing {
  var json: JSONObject {
    [
      "digest": .string(digest.hex), "receivedAt": .integer(receivedAt.sinceEpoch), "kind": .string(kind.name),
      "code": .string(code), "source": .string(source),
      "detail": .string(detail), "unconfirmedApp": claimedApp.isEmpty ? .null : .string(claimedApp),
      "replays": .integer(Int64(replays)), "bytes": .integer(Int64(size)),
    ]
  }

  fileprivate var plainDetail: String { String(detail.unicodeScalars.map { $0.value < 0x20 ? " " : Character($0) }) }
}
