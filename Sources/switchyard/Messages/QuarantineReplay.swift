import Adapter
import Database
import JSON
import Ledger
import Runtime
import Service
import Signing
import Time

/// `switchyard quarantine replay`: reads refused messages again, with today's apps and roots.
struct QuarantineReplay {
  static let command = Command(
    "replay", "Read refused messages again; what is accepted now moves to the inbox.",
    discussion: "Exit status: 0 when all moved, 3 when some stay. Doing it again changes nothing.",
    whenStopped: "What was accepted is in the inbox, and the rest is in quarantine. Run it again to go on.",
    examples: [
      Command.Example("switchyard quarantine replay --code unknownApp", "after `switchyard app add`"),
      Command.Example("switchyard quarantine replay --all --dry-run", "which would be accepted?"),
      Command.Example("switchyard quarantine replay 9f86d081"),
    ],
    options: [
      QuarantineCommand.code, .flag("all", "Every refused message."),
      .flag("dry-run", "Say what would become of each and change nothing."), JSONOutput.option,
      RevocationOption.option,
    ] + TrustOptions.options + MasterKeyOptions.options,
    arguments: [Positional("DIGEST", count: .optional, QuarantineCommand.digest)]
  ) { arguments, terminal in
    let options = try DatabaseOptions(arguments)
    let selection = try Selection(arguments)
    // Nobody is asked here; what the service heard counts.
    let revocations = Revocations(try RevocationOption.policy(arguments))
    let intake = Intake(adapter: try TrustOptions(arguments).adapter(revocations: revocations))
    return try await options.withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration)
      try await options.prepare(connection)
      let (hasSealed, certificates) = try await connection.read { session throws(DatabaseError) in
        (try CredentialTable.hasAny(in: session), try CertificateTable.all(in: session))
      }
      for standing in certificates { revocations.note(standing, at: WallClock.system.now()) }
      // Without anything sealed there is no secret to compare with, and no key has to be there.
      let keys =
        hasSealed
        ? try MasterKeyOptions(arguments, database: options).load(hasSealed: true) { terminal.note($0) } : nil
      let pool = Pool(configuration)
      let replay = QuarantineReplay(
        connection: connection, ledger: Ledger(pool: pool), intake: intake, keys: keys, selection: selection,
        isDry: arguments.flag("dry-run"), wantsJSON: arguments.wantsJSON, terminal: terminal)
      let result: Result<ExitStatus, any Error>
      do { result = .success(try await replay.run()) } catch { result = .failure(error) }
      await pool.close()
      await connection.close()
      return try result.get()
    }
  }

  /// Which messages are meant; exactly one of the ways to say it.
  private struct Selection: Sendable {
    let prefix: DigestPrefix?
    let code: String?
    let text: String

    init(_ arguments: ParsedArguments) throws(UsageError) {
      prefix = try arguments.positionals.first.map { text throws(UsageError) in try DigestPrefix(text, arguments) }
      code = arguments.value("code")
      let ways = [
        prefix.map(\.text), code.map { "--code \($0)" }, arguments.flag("all") ? "--all" : nil,
      ].compactMap(\.self)
      guard ways.count == 1, let text = ways.first else {
        throw UsageError(.missingArgument, "Say which: DIGEST, --code CODE or --all.", path: arguments.path)
      }
      self.text = text
    }
  }

  private static let page = 200

  let connection: Connection
  let ledger: Ledger
  let intake: Intake
  let keys: Keyring?
  private let selection: Selection
  let isDry: Bool
  let wantsJSON: Bool
  let terminal: Terminal
  let startedAt = WallClock.system.now()

  /// What a message comes to today.
  private enum Outcome {
    case accepted(Entry)
    case refused(Entry.Refusal)
  }

  private func run() async throws -> ExitStatus {
    let keys = keys
    let directory = try await connection.read { session throws(DatabaseError) in
      try AppTable.directory(with: keys, in: session)
    }
    var (accepted, refused) = (0, 0)
    var last: (Milliseconds, Digest)?
    while !Task.isCancelled {
      let (cursor, selection) = (last, selection)
      let page = try await connection.read { session throws(DatabaseError) in
        try QuarantineTable.page(
          after: cursor, code: selection.code, digestPrefix: selection.prefix?.bytes, limit: Self.page, in: session)
      }
      guard let end = page.last else { break }
      last = (end.message.receivedAt, end.message.digest)
      let chosen = page.filter { selection.prefix?.matches($0.message.digest) ?? true }
      let outcomes = chosen.map { ($0, outcome(of: $0, directory)) }
      if !isDry { try await write(outcomes) }
      for (message, outcome) in outcomes {
        switch outcome {
        case .accepted: accepted += 1
        case .refused: refused += 1
        }
        try tell(message, outcome)
      }
    }
    if let prefix = selection.prefix, accepted + refused == 0, !Task.isCancelled {
      throw NoSuchMessage(where: "quarantine", prefix: prefix.text)
    }
    if let code = selection.code, accepted + refused == 0, !Task.isCancelled {
      terminal.note("nothing is in quarantine for \(code); see `switchyard quarantine list`")
    }
    try await conclude(accepted, refused)
    return refused == 0 ? .done : .doneWithRejects
  }

  /// Time counts as of the message's arrival, as it does when the inbox is read again.
  private func outcome(of kept: QuarantinedMessage, _ directory: AppDirectory) -> Outcome {
    let message = kept.message
    do throws(Refusal) {
      switch message.kind {
      case .notification, .notificationHistory:
        let decision = try intake.notification(
          message, claimedApp: kept.claimedApp.isEmpty ? nil : kept.claimedApp, directory: directory,
          now: message.receivedAt)
        var entry = decision.entry
        // An operator asks for it, whatever the stage; what was forwarded already is not forwarded again.
        entry.addressee?.epoch = nil
        entry.addressee?.at = startedAt
        switch entry.content {
        case .accepted: return .accepted(entry)
        case .quarantined(let refusal): return .refused(refusal)
        }
      case .evidence, .verifyReceiptAnswer, .apiAnswer:
        guard let app = directory[kept.claimedApp] else {
          return refused(Refusal(.authentic, .unknownApp, "the app is not registered"))
        }
        if message.kind == .verifyReceiptAnswer {
          let decision = intake.verifyReceiptAnswer(message, app: app, now: message.receivedAt)
          if let refusal = decision.refusal { return refused(refusal) }
          return .accepted(decision.entry)
        }
        if message.kind == .apiAnswer {
          let environment = Intake.askedEnvironment(of: message, app: app)
          let decision = intake.apiAnswer(message, app: app, environment: environment, now: message.receivedAt)
          if let refusal = decision.refusal { return refused(refusal) }
          return .accepted(decision.entry)
        }
        return .accepted(try intake.evidence(message, app: app, now: message.receivedAt).entry)
      }
    } catch {
      return refused(error)
    }
  }

  private func refused(_ refusal: Refusal) -> Outcome {
    .refused(
      Entry.Refusal(
        source: refusal.quarantine ?? .unproven, code: refusal.code, detail: refusal.detail,
        claimedApp: refusal.claimedApp))
  }

  /// Into the inbox first, then out of quarantine: cut off in between, it is done again and nothing is lost.
  private func write(_ outcomes: [(QuarantinedMessage, Outcome)]) async throws {
    var entries: [Entry] = []
    var refusals: [(Digest, Entry.Refusal)] = []
    for (message, outcome) in outcomes {
      switch outcome {
      case .accepted(let entry): entries.append(entry)
      case .refused(let refusal): refusals.append((message.message.digest, refusal))
      }
    }
    if !entries.isEmpty { _ = try await ledger.append(entries) }
    let (released, noted) = (entries.map(\.message.digest), refusals)
    try await connection.transaction { session throws(DatabaseError) in
      for (digest, refusal) in noted { try QuarantineTable.noteReplay(digest, refusal, in: session) }
      try QuarantineTable.release(released, in: session)
    }
  }

  private func tell(_ kept: QuarantinedMessage, _ outcome: Outcome) throws {
    let digest = kept.message.digest.hex
    switch outcome {
    case .accepted(let entry):
      let title = if case .accepted(let acceptance) = entry.content { acceptance.title } else { "" }
      if wantsJSON {
        try terminal.write(["digest": .string(digest), "accepted": true, "title": .string(title)])
      } else {
        try terminal.write("accepted  \(digest.prefix(12))  \(title)\n")
      }
    case .refused(let refusal):
      let (code, detail) = (refusal.code, refusal.detail)
      if wantsJSON {
        try terminal.write([
          "digest": .string(digest), "accepted": false, "error": ["code": .string(code), "detail": .string(detail)],
        ])
      } else {
        try terminal.write("stays     \(digest.prefix(12))  \(code): \(detail)\n")
      }
    }
  }

  private func conclude(_ accepted: Int, _ refused: Int) async throws {
    let summary = "\(accepted) accepted, \(refused) stay"
    terminal.note(isDry ? "would be: \(summary)" : summary)
    if wantsJSON, CommandStop.signal != nil {
      let object: JSONObject = ["accepted": .integer(Int64(accepted)), "refused": .integer(Int64(refused))]
      try terminal.write(object.notingStop)
    }
    guard !isDry, accepted + refused > 0 else { return }
    let (now, actor, reason) = (WallClock.system.now(), OperatingSystemUser.name, "\(selection.text): \(summary)")
    try await connection.transaction { session throws(DatabaseError) in
      try AuditTable.note("quarantine.replay", of: "quarantine", by: actor, because: reason, at: now, in: session)
    }
  }
}
