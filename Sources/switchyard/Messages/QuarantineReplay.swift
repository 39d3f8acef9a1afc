import Database
import Intake
import JSON
import Ledger
import Operations
import Runtime
import Service
import Signing
import Time

/// `switchyard quarantine replay`: reads rejected messages again, with today's apps and roots.
enum QuarantineReplay {
  static let command = Command(
    "replay", "Read refused messages again; what is accepted now moves to the inbox.",
    discussion: """
      Notifications that `--forward-unproven deny` quarantined go to the app's destination now, if they stay and the app still \
      has `deny`: replay them before you set `allow` again. Exit status: 0 when all moved, 3 when some stay. Doing it again \
      changes nothing.
      """,
    whenStopped: "Accepted messages are in the inbox, the rest is in quarantine. Run it again to continue.",
    examples: [
      Command.Example("switchyard quarantine replay --code unknownApp", "after `switchyard app add`"),
      Command.Example("switchyard quarantine replay --all --dry-run", "which would be accepted?"),
      Command.Example("switchyard quarantine replay 9f86d081"),
    ],
    options: [
      QuarantineCommand.code, .flag("all", "Every refused message."),
      .flag("dry-run", "Show the outcome for each message and change nothing."), JSONOutput.option,
      RevocationOption.option,
    ] + TrustOptions.options + MasterKeyOptions.options,
    arguments: [Positional("DIGEST", count: .optional, QuarantineCommand.digest)]
  ) { arguments, terminal in
    let options = try DatabaseOptions(arguments)
    let selection = try selection(arguments)
    let revocations = try RevocationOption.revocations(arguments)
    let intake = IngestDecider(adapter: try TrustOptions(arguments).adapter(revocations: revocations))
    return try await options.withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration)
      try await options.prepare(connection)
      let keys = try await MasterKeyOptions(arguments, database: options).keys(for: connection, terminal)
      let pool = Pool(configuration)
      let replay = ReplayQuarantine(selection, readBy: intake, keys, into: LedgerStore(pool: pool, keys: keys))
      let result: Result<ReplayQuarantine.Summary, any Error>
      do {
        revocations?.learn(
          try await connection.read { session throws(DatabaseError) in try RevokedCertificateTable.all(in: session) })
        result = .success(try await run(replay, connection, arguments, terminal))
      } catch {
        result = .failure(error)
      }
      await pool.close()
      await connection.close()
      return try conclude(result.get(), selection, arguments, terminal)
    }
  }

  /// Returns the selected messages; exactly one selection option is allowed.
  private static func selection(_ arguments: ParsedArguments) throws(UsageError) -> ReplayQuarantine.Selection {
    let prefix = try arguments.positionals.first.map { text throws(UsageError) in try DigestPrefix(text, arguments) }
    let ways: [ReplayQuarantine.Selection] = [
      prefix.map { .digest($0) }, arguments.value("code").map { .code($0) }, arguments.flag("all") ? .all : nil,
    ].compactMap(\.self)
    guard ways.count == 1, let selection = ways.first else {
      throw UsageError(.missingArgument, "Say which: DIGEST, --code CODE or --all.", path: arguments.path)
    }
    return selection
  }

  private static func run(
    _ replay: ReplayQuarantine, _ connection: Connection, _ arguments: ParsedArguments, _ terminal: Terminal
  ) async throws -> ReplayQuarantine.Summary {
    let wantsJSON = arguments.wantsJSON
    if arguments.flag("dry-run") {
      return try await replay.plan(at: WallClock.system.now(), on: connection) {
        try tell($0, $1, wantsJSON, terminal)
      }
    }
    return try await replay.apply(by: .ofCommand(), clock: .system, on: connection) {
      try tell($0, $1, wantsJSON, terminal)
    }
  }

  private static func tell(
    _ message: Digest, _ fate: ReplayQuarantine.Fate, _ wantsJSON: Bool, _ terminal: Terminal
  ) throws {
    let digest = message.hex
    switch fate {
    case .accepted(let title):
      if wantsJSON {
        try terminal.write(["digest": .string(digest), "accepted": true, "title": .string(title)])
      } else {
        try terminal.write("accepted  \(digest.prefix(12))  \(title)\n")
      }
    case .stays(let code, let detail, let isForwarded):
      if wantsJSON {
        try terminal.write([
          "digest": .string(digest), "accepted": false, "forwarded": .bool(isForwarded),
          "error": ["code": .string(code), "detail": .string(detail)],
        ])
      } else {
        let word = isForwarded ? "forwarded" : "stays    "
        try terminal.write("\(word) \(digest.prefix(12))  \(code): \(detail)\n")
      }
    }
  }

  private static func conclude(
    _ summary: ReplayQuarantine.Summary, _ selection: ReplayQuarantine.Selection, _ arguments: ParsedArguments,
    _ terminal: Terminal
  ) throws -> ExitStatus {
    if case .code(let code) = selection, summary.accepted + summary.refused == 0, !Task.isCancelled {
      terminal.note("nothing is in quarantine for \(code); see `switchyard quarantine list`")
    }
    terminal.note(arguments.flag("dry-run") ? "would be: \(summary.text)" : summary.text)
    if arguments.wantsJSON, CommandShutdown.signal != nil {
      let object: JSONObject = [
        "accepted": .integer(Int64(summary.accepted)), "refused": .integer(Int64(summary.refused)),
        "forwarded": .integer(Int64(summary.forwarded)),
      ]
      try terminal.write(object.notingStop)
    }
    return summary.refused == 0 ? .done : .doneWithRejects
  }
}
