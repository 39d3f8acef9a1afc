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
      Command.Example("switchyard app token --revoke 1f0c2b3a", "the name as `app show` lists it"),
    ],
    options: [
      .value("label", "TEXT", default: "", "What it is for; shown in lists."),
      .value("revoke", "NAME", "End the token of this name instead; the service notices within seconds."),
      .flag("dry-run", "Say what would be done and do nothing."), JSONOutput.option,
    ], arguments: [Positional("BUNDLE_ID", count: .optional, "The app's bundle id; --revoke finds it by itself.")]
  ) { arguments, terminal in
    let name = try arguments.value("revoke").map { try DigestPrefix($0, minimum: 8, arguments) }
    guard name == nil || arguments.value("label") == "" else {
      throw UsageError(.unexpectedValue, "--label is for a new token, not for --revoke.", path: arguments.path)
    }
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      if let name {
        let app = try await owner(of: name, arguments.positionals.first, connection)
        return try await revoke(name, of: app, connection, arguments, terminal)
      }
      guard let bundleID = arguments.positionals.first else {
        throw UsageError(.missingArgument, "Give BUNDLE_ID: the app that the token is for.", path: arguments.path)
      }
      let app = try await AppRecord.find(bundleID, connection).app
      return try await issue(label: arguments.value("label") ?? "", for: app, connection, arguments, terminal)
    }
  }

  /// The app that is named, else the one that has a valid token of this name.
  private static func owner(
    of name: DigestPrefix, _ bundleID: String?, _ connection: Connection
  ) async throws -> App {
    if let bundleID { return try await AppRecord.find(bundleID, connection).app }
    let app: App? = try await connection.read { session throws(DatabaseError) in
      for app in try AppTable.all(in: session) {
        let tokens = try TokenTable.list(of: app, in: session)
        if tokens.contains(where: { $0.revokedAt == nil && name.text.hasPrefix($0.name) }) { return app }
      }
      return nil
    }
    guard let app else { throw NoSuchToken(name: name.text) }
    return app
  }

  private static func issue(
    label: String, for app: App, _ connection: Connection, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ExitStatus {
    if arguments.flag("dry-run") {
      return try would(
        "make a token of \(app.bundleID)\(label.isEmpty ? "" : ", \(label.plain)")",
        ["app": .string(app.bundleID), "dryRun": true, "label": .string(label)], arguments, terminal)
    }
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

  /// What --dry-run says.
  private static func would(
    _ sentence: String, _ object: JSONObject, _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws -> ExitStatus {
    if arguments.wantsJSON { try terminal.write(object) } else { try terminal.write("would: \(sentence)\n") }
    return .done
  }

  private static func revoke(
    _ name: DigestPrefix, of app: App, _ connection: Connection, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ExitStatus {
    if arguments.flag("dry-run") {
      let count = try await connection.read { session throws(DatabaseError) in
        try TokenTable.list(of: app, in: session).count { $0.revokedAt == nil && name.text.hasPrefix($0.name) }
      }
      guard count > 0 else { throw NoSuchToken(name: name.text) }
      return try would(
        "revoke \(name.text) of \(app.bundleID)",
        ["app": .string(app.bundleID), "dryRun": true, "revoked": .integer(Int64(count))], arguments, terminal)
    }
    let (now, actor) = (WallClock.system.now(), OperatingSystemUser.name)
    let count = try await connection.transaction { session throws(DatabaseError) in
      let count = try TokenTable.revoke(name.bytes, of: app, at: now, in: session)
      if count > 0 {
        try AuditTable.note("app.token.revoke", of: app.bundleID, by: actor, because: name.text, at: now, in: session)
      }
      return count
    }
    guard count > 0 else { throw NoSuchToken(name: name.text) }
    if arguments.wantsJSON {
      try terminal.write(["app": .string(app.bundleID), "revoked": .integer(Int64(count))])
    } else {
      try terminal.write("revoked \(name.text)\n")
    }
    return .done
  }
}

/// No valid token has this name.
struct NoSuchToken: ExitStatusError, CustomStringConvertible {
  let name: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "there is no valid token \(name); see `switchyard app show`" }
}
