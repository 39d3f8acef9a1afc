import Database
import JSON
import Ledger
import Operations
import Runtime
import Service
import Time

/// `switchyard db redact`: secrets that were kept in clear are taken out.
enum DatabaseRedact {
  static let command = Command(
    "redact", "Take secrets out of messages that were stored with them.",
    discussion: """
      Searches the quarantine, the inbox and the user ids beside them for shared secrets of registered apps and for \
      passwords where Apple puts none. A marker replaces each of them; each message keeps its digest. `serve` does the \
      same in the background, after an upgrade and after a shared secret was registered. A search that was stopped \
      continues where it ended. If nothing can be read in the rest of a message, `switchyard db rebuild` leaves the \
      message out: name the roots that `serve` trusts. Deleted bytes stay in database files, logs and backups until they are overwritten.
      """,
    whenStopped: "What was changed stays so. Run it again to go on.",
    examples: [
      Command.Example("switchyard db redact --dry-run", "how many messages hold secrets?"),
      Command.Example("switchyard db redact"),
      Command.Example("switchyard db redact --again", "after the last node of an older version was upgraded"),
    ],
    options: [
      .flag("dry-run", "Search everything and change nothing; 5 when there are secrets."),
      .flag("again", "Search from the beginning, also what was searched before."), JSONOutput.option,
    ] + TrustOptions.options + MasterKeyOptions.options
  ) { arguments, terminal in
    let (isDry, isAgain, wantsJSON) = (arguments.flag("dry-run"), arguments.flag("again"), arguments.wantsJSON)
    let (options, adapter) = (try DatabaseOptions(arguments), try TrustOptions(arguments).adapter)
    return try await options.withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration)
      let (status, hasSealed) = try await connection.read { session throws(DatabaseError) in
        let status = try Migrator().status(in: session)
        return (status, status.isCurrent ? try CredentialTable.hasAny(in: session) : false)
      }
      await connection.close()
      guard status.isCurrent else { throw SchemaError(status: status) }
      let keys = try MasterKeyOptions(arguments, database: options).load(hasSealed: hasSealed) { terminal.note($0) }
      let pool = Pool(configuration)
      let redaction = RedactSecrets(pool, keys, readBy: adapter, clock: .system)
      let result: Result<SecretSearch.Summary, any Error>
      do {
        result = .success(try await run(redaction, isDry: isDry, isAgain: isAgain, terminal))
      } catch { result = .failure(error) }
      await pool.close()
      return try tell(result.get(), isDry: isDry, wantsJSON, terminal)
    }
  }

  private static let step = 10_000

  private static func run(
    _ redaction: RedactSecrets, isDry: Bool, isAgain: Bool, _ terminal: Terminal
  ) async throws -> SecretSearch.Summary {
    var told = 0
    func note(_ part: SecretSearchTable.Part, _ sum: SecretSearch.Summary) {
      guard sum.searched / step > told else { return }
      told = sum.searched / step
      terminal.note("\(part.rawValue): \(sum.searched) searched, \(sum.changed) with secrets")
    }
    if isDry { return try await redaction.plan(noting: note) }
    return try await redaction.apply(again: isAgain, by: .ofCommand(), noting: note) { left in
      terminal.note("waiting \(left.milliseconds / 1_000 + 1) s until every node knows the newest shared secret")
    }
  }

  private static func tell(
    _ summary: SecretSearch.Summary, isDry: Bool, _ wantsJSON: Bool, _ terminal: Terminal
  ) throws -> ExitStatus {
    if wantsJSON {
      let object: JSONObject = [
        "searched": .integer(Int64(summary.searched)), "changed": .integer(Int64(summary.changed)),
        "unreadable": .integer(Int64(summary.skipped)), "dryRun": .bool(isDry),
      ]
      try terminal.write(object.notingStop)
    } else {
      let found = isDry ? "hold secrets; nothing was changed" : "changed"
      try terminal.write("\(summary.searched) messages searched, \(summary.changed) \(found)\n")
      if summary.skipped > 0 {
        terminal.note(
          "\(summary.skipped) messages cannot be read and were not searched, or could not be written without their "
            + "secrets; `switchyard doctor` says what to do")
      }
      if summary.changed > 0, !isDry {
        terminal.note("run `switchyard db rebuild` to derive purchases and customers from what is left")
      }
    }
    return isDry && summary.changed > 0 ? .differences : .done
  }
}
