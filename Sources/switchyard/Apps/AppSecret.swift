import Database
import JSON
import Ledger
import Operations
import Runtime
import Time

/// `switchyard app secret`: the shared secrets that authenticate V1 notifications.
enum AppSecret {
  static let command = Command(
    "secret", "List an app's shared secrets, add one, or end one.",
    discussion: """
      Two may be valid at the same time, so that App Store Connect can be given a new one without a gap: add the new one, \
      regenerate it there, and end the old one three days later, when Apple's last retry has come. A secret is read from \
      a file, sealed under the master key, and never shown again; the service notices within seconds.
      """,
    examples: [
      Command.Example("switchyard app secret com.example.app"),
      Command.Example("switchyard app secret com.example.app --shared-secret-file secret.txt"),
      Command.Example("switchyard app secret com.example.app --retire 1f0c2b3a", "the name as it is listed"),
    ],
    options: [
      .value(
        "shared-secret-file", "FILE", environment: "SWITCHYARD_SHARED_SECRET_FILE", formerly: "file",
        "Add the secret in this file."),
      .value("retire", "NAME", "End the secret of this name; it stays sealed, to forward what came before."),
      .flag("dry-run", "Say what would be done and do nothing."), JSONOutput.option,
    ] + MasterKeyOptions.options, arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let options = try DatabaseOptions(arguments)
    let (file, name, bundleID) = (
      arguments.value("shared-secret-file"), arguments.value("retire"), arguments.positionals[0]
    )
    let secret = try file.map(SharedSecretFile.read)
    guard file == nil || name == nil else {
      throw UsageError(.unexpectedValue, "Give --shared-secret-file or --retire, not both.", path: arguments.path)
    }
    return try await options.withLedger(terminal) { connection in
      let (isDry, now) = (arguments.flag("dry-run"), WallClock.system.now())
      let app: App
      if let secret, let file {
        let addition = AddSharedSecret(secret, to: bundleID)
        app = try await addition.plan(on: connection)
        if isDry { return try tell("seal the secret of \(app.bundleID) in \(file)", of: app, arguments, terminal) }
        let keys = MasterKeyOptions(arguments, database: options).source(terminal)
        try await addition.apply(app, sealedWith: keys, by: .ofCommand(), at: now, on: connection)
      } else if let name {
        let retirement = RetireSharedSecret(name, of: bundleID)
        app = try await retirement.plan(on: connection)
        if isDry { return try tell("end the secret \(name) of \(app.bundleID)", of: app, arguments, terminal) }
        try await retirement.apply(app, by: .ofCommand(), at: now, on: connection)
      } else {
        app = try await AppRecord.find(bundleID, connection).app
      }
      return try await list(app, connection, arguments, terminal)
    }
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
