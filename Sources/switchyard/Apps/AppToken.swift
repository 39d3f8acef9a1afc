import Database
import JSON
import Ledger
import Runtime
import Time

/// `switchyard app token`: bearer tokens of an app's own back end.
enum AppToken {
  static let command = Command(
    "token", "Make a bearer token for an app's back end, or end one.",
    discussion: "A token is printed once and kept as a digest only. `app show` lists names and labels.",
    examples: [
      Command.Example("switchyard app token com.example.app --label backend"),
      Command.Example("switchyard app token com.example.app --revoke 1f0c2b3a"),
    ],
    options: [
      .value("label", "TEXT", default: "", "What it is for; shown in lists."),
      .value("revoke", "NAME", "End the token of this name instead; the service notices within seconds."),
      JSONOutput.option,
    ], arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let name = try arguments.value("revoke").map { try DigestPrefix($0, minimum: 8, arguments) }
    guard name == nil || arguments.value("label") == "" else {
      throw UsageError(.unexpectedValue, "--label is for a new token, not for --revoke.", path: arguments.path)
    }
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let app = try await AppRecord.find(arguments.positionals[0], connection).app
      if let name { return try await revoke(name, of: app, connection, arguments, terminal) }
      return try await issue(label: arguments.value("label") ?? "", for: app, connection, arguments, terminal)
    }
  }

  private static func issue(
    label: String, for app: App, _ connection: Connection, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ExitStatus {
    let (now, actor, label) = (WallClock.system.now(), OperatingSystemUser.name, String(label.prefix(60)))
    let token = try await connection.transaction { session throws(DatabaseError) in
      let token = try TokenTable.issue(for: app, label: label, at: now, in: session)
      try AuditTable.note("app.token", of: app.bundleID, by: actor, because: label, at: now, in: session)
      return token
    }
    if arguments.wantsJSON {
      try terminal.write(["app": .string(app.bundleID), "label": .string(label), "token": .string(token)])
    } else {
      try terminal.write("\(token)\n")
    }
    terminal.note("this is the only time the token is shown; its bearer reads and writes \(app.bundleID)")
    return .done
  }

  private static func revoke(
    _ name: DigestPrefix, of app: App, _ connection: Connection, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ExitStatus {
    let (now, actor) = (WallClock.system.now(), OperatingSystemUser.name)
    let count = try await connection.transaction { session throws(DatabaseError) in
      let count = try TokenTable.revoke(name.bytes, of: app, at: now, in: session)
      if count > 0 {
        try AuditTable.note("app.token.revoke", of: app.bundleID, by: actor, because: name.text, at: now, in: session)
      }
      return count
    }
    guard count > 0 else {
      terminal.note("switchyard: \(app.bundleID) has no valid token \(name.text); see `switchyard app show`")
      return .failed
    }
    if arguments.wantsJSON {
      try terminal.write(["app": .string(app.bundleID), "revoked": .integer(Int64(count))])
    } else {
      try terminal.write("revoked \(name.text)\n")
    }
    return .done
  }
}
