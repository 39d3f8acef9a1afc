import Database
import JSON
import Ledger
import Operations
import Runtime
import Signing
import Time

/// `switchyard db key`: the master key that seals the database.
enum DatabaseKey {
  static let command = Command(
    "key", "Show which master key seals the database; accept another one if that key is lost.",
    discussion: """
      One master key, the same on every machine, seals bodies of messages, credentials and kept answers. If the key is lost \
      and no backup has it, --accept-new makes the key on this machine the database's. Purchases, customers and answers stay. \
      Bodies stored before cannot be shown, replayed, forwarded or rebuilt from. Credentials are deleted: register them again.
      """,
    examples: [
      Command.Example("switchyard db key"),
      Command.Example("switchyard db key --accept-new --dry-run", "which credentials would be deleted"),
      Command.Example("switchyard db key --accept-new", "stop every service first"),
    ],
    options: [
      .flag("accept-new", "Make this machine's key the database's, because its own is lost."),
      .flag("dry-run", "Say what --accept-new would do and change nothing."), JSONOutput.option,
    ] + MasterKeyOptions.options
  ) { arguments, terminal in
    let options = try DatabaseOptions(arguments)
    let key = MasterKeyOptions(arguments, database: options)
    let (accepts, isDry) = (arguments.flag("accept-new"), arguments.flag("dry-run"))
    return try await options.withLedger(terminal) { connection in
      let inUse = try await connection.read { session throws(DatabaseError) in try MasterKeyTable.inUse(in: session) }
      guard accepts else {
        let here = try? key.load(hasSealed: true) { terminal.note($0) }.current.id
        if inUse != nil {
          // Prints the missing part and its fix.
          do { _ = try await key.keys(for: connection) { _ in } } catch { terminal.note("\(error)") }
        }
        return try show(inUse, here, arguments, terminal)
      }
      // A dry run creates no file.
      let keys =
        try isDry && !key.isThere
        ? Keyring(current: .generate()) : key.load(hasSealed: false) { terminal.note($0) }
      let accept = AcceptMasterKey(keys)
      let lost =
        try await isDry
        ? accept.plan(on: connection)
        : accept.apply(by: .ofCommand(), at: WallClock.system.now(), on: connection)
      return try tell(lost, isDry: isDry, arguments, terminal)
    }
  }

  private static func show(
    _ inUse: String?, _ here: MasterKey.ID?, _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws -> ExitStatus {
    let isSame = inUse == nil || inUse == here?.description
    if arguments.wantsJSON {
      try terminal.write([
        "database": JSONValue(inUse), "here": JSONValue(here?.description), "isSame": .bool(isSame),
      ])
    } else {
      try terminal.write("database  \(inUse ?? "not sealed yet")\nhere      \(here?.description ?? "no key")\n")
    }
    return isSame ? .done : .differences
  }

  private static func tell(
    _ lost: [CredentialTable.Lost], isDry: Bool, _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws -> ExitStatus {
    if arguments.wantsJSON {
      try terminal.write([
        "dryRun": .bool(isDry),
        "deleted": .array(
          lost.map { ["app": .string($0.bundleID), "kind": .string($0.kind.rawValue), "name": .string($0.name)] }),
      ])
      return .done
    }
    let verb = isDry ? "would be deleted" : "deleted"
    for credential in lost {
      try terminal.write("\(verb): \(credential.bundleID) \(credential.kind.rawValue) \(credential.name)\n")
    }
    terminal.note(
      isDry
        ? "nothing was changed"
        : "this key is the database's now; register again what was deleted: `switchyard app add`, `switchyard app secret`"
    )
    return .done
  }
}
