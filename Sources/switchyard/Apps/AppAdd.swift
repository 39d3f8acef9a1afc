import Database
import JSON
import Ledger
import Runtime
import Signing
import Time

/// `switchyard app add`: registers an app, or adds to what is registered of it.
struct AppAdd {
  static let command = Command(
    "add", "Register an app, or add to what is registered of it.",
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
      let isDry = arguments.flag("dry-run")
      if isDry || (add.key == nil && add.sharedSecret == nil) {
        return try await add.run(connection, sealedWith: nil, isDry, terminal)
      }
      let hasSealed = try await connection.read { session throws(DatabaseError) in
        try CredentialTable.hasAny(in: session)
      }
      let keys = try MasterKeyOptions(arguments, database: options).load(hasSealed: hasSealed) { terminal.note($0) }
      return try await add.run(connection, sealedWith: keys, isDry, terminal)
    }
  }

  private struct Key: Sendable {
    let bytes: [UInt8]
    let name: String
    let issuer: String
  }

  private static let fileLimit = 16 << 10

  private let bundleID: String
  private let appAppleID: Int64?
  private let key: Key?
  private let sharedSecret: SharedSecretFile?
  private let wantsJSON: Bool

  private init(_ arguments: ParsedArguments) throws {
    bundleID = arguments.positionals[0]
    let isName =
      bundleID.utf8.count <= 255
      && bundleID.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
    guard isName, !bundleID.isEmpty else {
      throw UsageError(
        .invalidValue, "A bundle id has letters, digits, points and hyphens only: com.example.app.",
        path: arguments.path)
    }
    appAppleID = try arguments.integer("app-apple-id", in: 1...Int.max).map(Int64.init)
    key = try Self.key(arguments)
    sharedSecret = try arguments.value("shared-secret-file").map(SharedSecretFile.init)
    wantsJSON = arguments.wantsJSON
  }

  private static func key(_ arguments: ParsedArguments) throws -> Key? {
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
    return Key(bytes: bytes, name: try arguments.required("key-id"), issuer: try arguments.required("issuer"))
  }

  private func run(
    _ connection: Connection, sealedWith keys: Keyring?, _ isDry: Bool, _ terminal: Terminal
  ) async throws -> ExitStatus {
    let bundleID = bundleID
    let before = try await connection.read { session throws(DatabaseError) in
      try AppTable.find(bundleID, in: session)
    }
    let changes = changes(from: before)
    if !isDry { try await write(connection, keys, changes.joined(separator: "; ")) }
    if wantsJSON {
      try terminal.write([
        "app": .string(bundleID), "dryRun": .bool(isDry), "changes": .array(changes.map(JSONValue.string)),
      ])
    } else {
      for change in changes { try terminal.write("\(isDry ? "would: " : "")\(change)\n") }
    }
    if appAppleID == nil, before?.appAppleID == nil {
      terminal.note("its Production notifications are quarantined until --app-apple-id is given")
    }
    if before == nil, !isDry {
      // In this order: an app whose URL at Apple is changed before it is forwarded silences its old back end.
      terminal.note(
        """
        next: `switchyard app legacy-url \(bundleID) URL --environment Production`, so that its old back end goes on \
        hearing Apple; then the API key; then Apple's URL …/notifications/\(bundleID): runbooks/connect-app.md
        """)
    }
    return .done
  }

  private func changes(from before: App?) -> [String] {
    var changes: [String] = []
    if before == nil { changes.append("register \(bundleID), beginning in record") }
    if let appAppleID, appAppleID != before?.appAppleID {
      changes.append("Apple id \(before?.appAppleID.map { "\($0) to " } ?? "")\(appAppleID)")
    }
    if let key { changes.append("seal apiKey \(key.name)") }
    if sharedSecret != nil { changes.append("seal sharedSecret") }
    return changes.isEmpty ? ["nothing to change: \(bundleID) is registered so"] : changes
  }

  private func write(_ connection: Connection, _ keys: Keyring?, _ reason: String) async throws {
    let (now, actor) = (WallClock.system.now(), OperatingSystemUser.name)
    let (bundleID, appAppleID, key, sharedSecret) = (bundleID, appAppleID, key, sharedSecret)
    try await connection.transaction { session throws(DatabaseError) in
      let app = try AppTable.add(bundleID: bundleID, appAppleID: appAppleID, at: now, in: session)
      if let keys {
        if let key {
          try CredentialTable.put(
            key.bytes, kind: .apiKey, name: key.name, issuer: key.issuer, of: app, sealedWith: keys, at: now,
            in: session)
        }
        try sharedSecret?.put(for: app, sealedWith: keys, at: now, in: session)
      }
      try AuditTable.note("app.add", of: bundleID, by: actor, because: reason, at: now, in: session)
    }
  }
}
