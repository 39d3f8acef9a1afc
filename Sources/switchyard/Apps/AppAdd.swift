import Database
import JSON
import Ledger
import Operations
import Runtime
import Signing
import Time

struct AppAdd {
  static let command = Command(
    "add", "Register an app, or add an environment or a key to a registered one.",
    discussion: """
      An app begins in the stage record. Without --app-apple-id its Production notifications are quarantined until it is \
      given. Secrets are read from files, sealed under the master key, and never shown again.
      """,
    examples: [
      Command.Example("switchyard app add com.example.app --app-apple-id 1234567890"),
      Command.Example(
        "switchyard app add com.example.app --key-file AuthKey.p8 --key-id 2X9R4HXF34 --issuer ISSUER",
        "the key of the App Store Server API"),
      Command.Example("switchyard app add com.example.app --shared-secret-file secret.txt"),
    ],
    options: [
      .value("app-apple-id", "NUMBER", "Apple's number for the app, from App Store Connect."),
      .value("key-file", "FILE", "A .p8 key of the App Store Server API; with --key-id and --issuer."),
      .value("key-id", "ID", "The key's id, as App Store Connect shows it."),
      .value("issuer", "ID", "The issuer id of the keys, as App Store Connect shows it."),
      .value("shared-secret-file", "FILE", "A file with the app's shared secret of verifyReceipt."),
      .flag("dry-run", "Say what would be done and do nothing."), JSONOutput.option,
    ] + MasterKeyOptions.options,
    arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let options = try DatabaseOptions(arguments)
    let add = try AppAdd(arguments)
    return try await options.withLedger(terminal, makesDatabase: true) { connection in
      let keys = MasterKeyOptions(arguments, database: options).source(terminal)
      return try await add.run(connection, sealedWith: keys, arguments.flag("dry-run"), terminal)
    }
  }

  private static let fileLimit = 16 << 10

  private let bundleID: String
  private let appAppleID: Int64?
  private let registration: RegisterApp
  private let wantsJSON: Bool

  private init(_ arguments: ParsedArguments) throws {
    bundleID = arguments.positionals[0]
    guard RegisterApp.isBundleID(bundleID) else {
      throw UsageError(
        .invalidValue, "A bundle id has letters, digits, points and hyphens only: com.example.app.",
        path: arguments.path)
    }
    appAppleID = try arguments.integer("app-apple-id", in: 1...Int.max).map(Int64.init)
    registration = RegisterApp(
      bundleID, appAppleID: appAppleID, apiKey: try Self.key(arguments),
      sharedSecret: try arguments.value("shared-secret-file").map(SharedSecretFile.read))
    wantsJSON = arguments.wantsJSON
  }

  private static func key(_ arguments: ParsedArguments) throws -> RegisterApp.APIKey? {
    let parts = ["key-file", "key-id", "issuer"]
    let given = parts.filter { arguments.value($0) != nil }
    if given.isEmpty { return nil }
    guard given == parts else {
      throw UsageError(
        .missingOption, "--key-file, --key-id and --issuer go together.", path: arguments.path)
    }
    let file = try arguments.required("key-file")
    let bytes = try Input.read(file, limit: fileLimit)
    do throws(CertificateError) { _ = try SigningKey(pem: bytes) } catch {
      throw SecretFileError(file: file, reason: "no .p8 key of the App Store Server API (\(error))")
    }
    return RegisterApp.APIKey(
      pem: bytes, id: try arguments.required("key-id"), issuer: try arguments.required("issuer"))
  }

  private func run(
    _ connection: Connection, sealedWith keys: KeySource, _ isDry: Bool, _ terminal: Terminal
  ) async throws -> ExitStatus {
    let plan = try await registration.plan(on: connection)
    if !isDry {
      try await registration.apply(
        plan, sealedWith: keys, by: .ofCommand(), at: WallClock.system.now(), on: connection)
    }
    if wantsJSON {
      try terminal.write([
        "app": .string(bundleID), "dryRun": .bool(isDry), "changes": .array(plan.changes.map(JSONValue.string)),
      ])
    } else {
      for change in plan.changes { try terminal.write("\(isDry ? "would: " : "")\(change)\n") }
    }
    if appAppleID == nil, plan.before?.appAppleID == nil {
      terminal.note("its Production notifications are quarantined until --app-apple-id is given")
    }
    if plan.before == nil, !isDry {
      // In this order: after a change of the app's URL at Apple, its destination receives nothing until forwarding is
      // set.
      terminal.note(
        """
        next: `switchyard app legacy-url \(bundleID) URL --environment Production`, so that its existing back \
        end still receives Apple's notifications; then the API key; then Apple's URL …/notifications/\(bundleID): runbooks/connect-app.md
        """)
    }
    return .done
  }
}
