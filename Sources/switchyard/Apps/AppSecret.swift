import Database
import JSON
import Ledger
import Runtime
import Signing
import Time

/// `switchyard app secret`: the shared secrets by which V1 notifications are believed.
enum AppSecret {
  static let command = Command(
    "secret", "List an app's shared secrets, add one, or end one.",
    discussion: """
      Two may be valid at once, so that App Store Connect can be given a new one without a gap: add the new one, \
      regenerate it there, and end the old one three days later, when Apple's last retry has come. A secret is read from \
      a file, sealed under the master key, and never shown again; the service notices within seconds.
      """,
    examples: [
      Command.Example("switchyard app secret com.example.app"),
      Command.Example("switchyard app secret com.example.app --file secret.txt"),
      Command.Example("switchyard app secret com.example.app --retire 1f0c2b3a", "the name as it is listed"),
    ],
    options: [
      .value("file", "FILE", "Add the secret in this file."),
      .value("retire", "NAME", "End the secret of this name; it stays sealed, to forward what came before."),
      .flag("dry-run", "Say what would be done and do nothing."), JSONOutput.option,
    ] + MasterKeyOptions.options, arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let options = try DatabaseOptions(arguments)
    let file = try arguments.value("file").map(SharedSecretFile.init)
    guard file == nil || arguments.value("retire") == nil else {
      throw UsageError(.unexpectedValue, "Give --file or --retire, not both.", path: arguments.path)
    }
    return try await options.withLedger(terminal) { connection in
      let app = try await AppRecord.find(arguments.positionals[0], connection).app
      if arguments.flag("dry-run"), let change = try await change(file, of: app, connection, arguments) {
        return try tell(change, of: app, arguments, terminal)
      }
      if let file {
        let hasSealed = try await connection.read { session throws(DatabaseError) in
          try CredentialTable.hasAny(in: session)
        }
        let keys = try MasterKeyOptions(arguments, database: options).load(hasSealed: hasSealed) { terminal.note($0) }
        try await add(file, to: app, keys, connection)
      } else if let name = arguments.value("retire") {
        try await retire(name, of: app, connection)
      }
      return try await list(app, connection, arguments, terminal)
    }
  }

  /// What would be done, which needs no master key; nil when nothing was asked for.
  private static func change(
    _ file: SharedSecretFile?, of app: App, _ connection: Connection, _ arguments: ParsedArguments
  ) async throws -> String? {
    if file != nil { return "seal the secret of \(app.bundleID) in \(arguments.value("file") ?? "")" }
    guard let name = arguments.value("retire") else { return nil }
    let isThere = try await connection.read { session throws(DatabaseError) in
      try CredentialTable.list(of: app, in: session).contains { $0.kind == .sharedSecret && $0.name == name }
    }
    guard isThere else { throw NoSuchSecret(bundleID: app.bundleID, name: String(name.prefix(80))) }
    return "end the secret \(name) of \(app.bundleID)"
  }

  private static func tell(
    _ change: String, of app: App, _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws -> ExitStatus {
    if arguments.wantsJSON {
      try terminal.write(["app": .string(app.bundleID), "dryRun": true, "change": .string(change)])
    } else {
      try terminal.write("would: \(change)\n")
    }
    return .done
  }

  private static func add(_ file: SharedSecretFile, to app: App, _ keys: Keyring, _ connection: Connection) async throws
  {
    let (now, actor, name) = (WallClock.system.now(), OperatingSystemUser.name, file.name(under: keys))
    try await connection.transaction { session throws(DatabaseError) in
      try file.put(for: app, sealedWith: keys, at: now, in: session)
      try AuditTable.note("app.secret", of: app.bundleID, by: actor, because: name, at: now, in: session)
    }
  }

  private static func retire(_ name: String, of app: App, _ connection: Connection) async throws {
    let (now, actor) = (WallClock.system.now(), OperatingSystemUser.name)
    let isRetired = try await connection.transaction { session throws(DatabaseError) in
      let isRetired = try CredentialTable.retire(name, kind: .sharedSecret, of: app, at: now, in: session)
      if isRetired {
        try AuditTable.note("app.secret.retire", of: app.bundleID, by: actor, because: name, at: now, in: session)
      }
      return isRetired
    }
    guard isRetired else { throw NoSuchSecret(bundleID: app.bundleID, name: String(name.prefix(80))) }
  }

  private static func list(
    _ app: App, _ connection: Connection, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ExitStatus {
    let secrets = try await connection.read { session throws(DatabaseError) in
      try CredentialTable.list(of: app, in: session).filter { $0.kind == .sharedSecret }
    }
    if arguments.wantsJSON {
      for secret in secrets {
        try terminal.write(["name": .string(secret.name), "createdAt": .integer(secret.createdAt.sinceEpoch)])
      }
      return .done
    }
    var table = TextTable([.init("SECRET"), .init("SINCE")])
    for secret in secrets { table.add([secret.name, secret.createdAt.iso8601]) }
    try terminal.write(table.render(for: terminal))
    if secrets.isEmpty { terminal.note("V1 notifications of \(app.bundleID) are quarantined until --file gives one") }
    return .done
  }
}

/// No valid shared secret has this name.
struct NoSuchSecret: ExitStatusError, CustomStringConvertible {
  let bundleID: String
  let name: String

  var exitStatus: ExitStatus { .failed }
  var description: String {
    "\(bundleID) has no valid shared secret \(name); see `switchyard app secret \(bundleID)`"
  }
}
