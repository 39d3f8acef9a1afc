import Adapter
import Database
import JSON
import Ledger
import Purchases
import Runtime
import Service
import Signing
import Synchronization
import Time

/// `switchyard db rebuild`: everything derived anew from the inbox, by the rules of this build.
struct DatabaseRebuild {
  static let command = Command(
    "rebuild", "Derive purchases, customers and events anew from the inbox.",
    discussion: """
      Beside what is there, then exchanged at once; readers and the service go on meanwhile. A message that this build \
      refuses ends it before anything is changed. --dry-run compares and changes nothing: exit status 5 when there are \
      differences.
      """,
    whenStopped: """
      Unless the tables were being exchanged already, nothing was changed. Run it again: it begins anew, and removes what \
      this run leaves.
      """,
    examples: [
      Command.Example("switchyard db rebuild --dry-run", "would it change anything?"),
      Command.Example("switchyard db rebuild --trust-root simulator.der"),
    ],
    options: [.flag("dry-run", "Compare and change nothing; 5 when there are differences."), JSONOutput.option]
      + TrustOptions.options
  ) { arguments, terminal in
    let adapter = try TrustOptions(arguments).adapter
    let (isDry, wantsJSON) = (arguments.flag("dry-run"), arguments.wantsJSON)
    return try await DatabaseOptions(arguments).withDatabase(terminal) { configuration in
      let rebuild = try await DatabaseRebuild(configuration, adapter, terminal)
      do {
        CommandStop.current?.summarize { rebuild.sayStopped(wantsJSON) }
        return isDry ? try await rebuild.rehearse(wantsJSON) : try await rebuild.run(wantsJSON)
      } catch let refused as RefusedMessage {
        throw NothingChanged(because: refused)
      } catch {
        // That it was stopped before anything was changed is in the summary.
        guard Task.isCancelled, !(error is Rebuild.Failure) else { throw error }
        return .failed
      }
    }
  }

  private let configuration: DatabaseConfiguration
  private let rebuild: Rebuild
  private let progress = Progress()
  /// Looked at by its own threads, which belong to no task.
  private let stop = CommandStop.current
  private let terminal: Terminal

  /// How many messages were read so far.
  private final class Progress: Sendable {
    private let messages = Atomic(0)

    func note(_ count: Int) { messages.store(count, ordering: .relaxed) }
    var count: Int { messages.load(ordering: .relaxed) }
  }

  private init(_ configuration: DatabaseConfiguration, _ adapter: Adapter, _ terminal: Terminal) async throws {
    self.configuration = configuration
    self.terminal = terminal
    let connection = try await Connection.open(configuration)
    let status = try await connection.read { session throws(DatabaseError) in try Migrator().status(in: session) }
    await connection.close()
    guard status.isCurrent else { throw SchemaError(status: status) }
    let progress = progress
    rebuild = Rebuild(configuration) { done in
      progress.note(done)
      if done % Self.step == 0 { terminal.note("\(done) messages read") }
    } read: { stored in
      try Self.read(stored, adapter)
    }
  }

  private static let step = 10_000

  /// A stored message as it was read when it came, with this build's rules and today's roots.
  private static func read(_ stored: StoredMessage, _ adapter: Adapter) throws(RefusedMessage) -> Findings {
    let message = stored.message
    do throws(Refusal) {
      switch message.kind {
      case .notification, .notificationHistory:
        return try adapter.notification(
          message.body, message: message.digest, origin: Intake.origin(of: message, app: stored.bundleID),
          now: message.receivedAt
        ).findings
      case .verifyReceiptAnswer:
        return try adapter.answer(
          message.body, app: stored.bundleID, environment: stored.claim.environment, message: message.digest,
          now: message.receivedAt
        ).findings
      case .apiAnswer:
        return try adapter.apiAnswer(
          message.body, app: stored.bundleID, environment: stored.environment, message: message.digest,
          now: message.receivedAt
        ).findings
      case .evidence:
        return try adapter.evidence(
          message.body, app: stored.bundleID, environment: stored.claim.environment, userID: stored.claim.userID,
          message: message.digest, now: message.receivedAt
        ).findings
      }
    } catch {
      throw RefusedMessage(digest: message.digest, title: stored.title, app: stored.bundleID, refusal: error)
    }
  }

  private func run(_ wantsJSON: Bool) async throws -> ExitStatus {
    let now = WallClock.system.now()
    let summary = try await rebuild.run(now: now)
    CommandStop.current?.summarize(nil)
    let connection = try await Connection.open(configuration)
    try await connection.transaction { session throws(DatabaseError) in
      try AuditTable.note(
        "db.rebuild", of: "database", by: OperatingSystemUser.name, because: "\(summary.messages) messages", at: now,
        in: session)
    }
    await connection.close()
    if wantsJSON {
      try terminal.write(["messages": .integer(Int64(summary.messages)), "late": .integer(Int64(summary.late))])
    } else {
      try terminal.write("rebuilt from \(summary.messages) messages, and \(summary.late) that arrived meanwhile\n")
    }
    return .done
  }

  /// How far a rebuild that was stopped has come.
  private func sayStopped(_ wantsJSON: Bool) {
    if wantsJSON {
      let summary: JSONObject = ["messages": .integer(Int64(progress.count)), "complete": false]
      try? terminal.write(summary.notingStop(of: stop))
    } else {
      terminal.note("\(progress.count) messages read")
    }
  }

  private func rehearse(_ wantsJSON: Bool) async throws -> ExitStatus {
    let rehearsal = try await rebuild.rehearse(now: WallClock.system.now())
    CommandStop.current?.summarize(nil)
    if wantsJSON {
      try terminal.write([
        "messages": .integer(Int64(rehearsal.messages)), "dryRun": true, "isEqual": .bool(rehearsal.isEqual),
        "gone": Self.json(rehearsal.gone), "new": Self.json(rehearsal.new),
      ])
    } else if rehearsal.isEqual {
      try terminal.write("equal: \(rehearsal.messages) messages read anew give what is there\n")
    } else {
      for line in rehearsal.gone.examples { try terminal.write("- \(line)\n") }
      for line in rehearsal.new.examples { try terminal.write("+ \(line)\n") }
      try terminal.write(
        "\(rehearsal.gone.count) lines would be gone, \(rehearsal.new.count) new; nothing was changed\n")
    }
    return rehearsal.isEqual ? .done : .differences
  }

  private static func json(_ lines: Rebuild.Rehearsal.Lines) -> JSONValue {
    ["count": .integer(Int64(lines.count)), "examples": .array(lines.examples.map(JSONValue.string))]
  }
}

/// A stored message that cannot be read any more.
struct RefusedMessage: ExitStatusError, CustomStringConvertible {
  let digest: Digest
  let title: String
  let app: String
  let refusal: Refusal

  var exitStatus: ExitStatus { .failed }

  var description: String {
    "the message \(digest.hex) (\(title) of \(app)) is refused by this build and these roots: \(refusal)"
  }
}

/// A message was refused before anything was exchanged; one that is refused later makes a `Rebuild.Failure`.
private struct NothingChanged: ExitStatusError, CustomStringConvertible {
  let because: RefusedMessage

  var exitStatus: ExitStatus { because.exitStatus }
  var description: String { "nothing was changed: \(because)" }
}
