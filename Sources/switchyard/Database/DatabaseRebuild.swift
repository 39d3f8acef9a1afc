import Adapter
import Database
import JSON
import Ledger
import Operations
import Runtime
import Signing
import Synchronization
import Time

/// `switchyard db rebuild`: derives all tables from the inbox again, by the rules of this build.
struct DatabaseRebuild {
  static let command = Command(
    "rebuild", "Derive purchases, customers and events anew from the inbox.",
    discussion: """
      The new tables are built next to the old ones and then exchanged; readers and the service continue. A \
      message from Apple that this build refuses ends it before anything is changed; a refused message with only a shared \
      secret is left out, and counted. --dry-run compares and changes nothing: exit status 5 when there are \
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
      + MasterKeyOptions.options + TrustOptions.options
  ) { arguments, terminal in
    let adapter = try TrustOptions(arguments).adapter
    let (isDry, wantsJSON) = (arguments.flag("dry-run"), arguments.wantsJSON)
    let options = try DatabaseOptions(arguments)
    return try await options.withDatabase(terminal) { configuration in
      let rebuild = try await DatabaseRebuild(
        configuration, MasterKeyOptions(arguments, database: options), adapter, terminal)
      do {
        CommandShutdown.current?.summarize { rebuild.sayStopped(wantsJSON) }
        return isDry ? try await rebuild.rehearse(wantsJSON) : try await rebuild.run(wantsJSON)
      } catch let refused as RefusedMessage {
        throw NothingChanged(because: refused)
      } catch {
        // The summary already reports a stop before any change.
        guard Task.isCancelled, !(error is Rebuild.Failure) else { throw error }
        return .failed
      }
    }
  }

  private let rebuild: RebuildLedger
  private let progress = Progress()
  /// Polled by threads that belong to no task.
  private let stop = CommandShutdown.current
  private let terminal: Terminal

  private final class Progress: Sendable {
    private let messages = Atomic(0)

    func note(_ count: Int) { messages.store(count, ordering: .relaxed) }
    var count: Int { messages.load(ordering: .relaxed) }
  }

  private init(
    _ configuration: DatabaseConfiguration, _ key: MasterKeyOptions, _ adapter: MessageDecoder, _ terminal: Terminal
  ) async throws {
    self.terminal = terminal
    let connection = try await Connection.open(configuration)
    let status = try await connection.read { session throws(DatabaseError) in try Migrator().status(in: session) }
    guard status.isCurrent else { throw SchemaError(status: status) }
    let keys = try await key.keys(for: connection, terminal)
    await connection.close()
    let progress = progress
    rebuild = RebuildLedger(configuration, keys, readBy: adapter) { done in
      progress.note(done)
      if done % Self.step == 0 { terminal.note("\(done) messages read") }
    }
  }

  private static let step = 10_000

  private func run(_ wantsJSON: Bool) async throws -> ExitStatus {
    let summary = try await rebuild.apply(by: .ofCommand(), at: WallClock.system.now())
    CommandShutdown.current?.summarize(nil)
    if wantsJSON {
      try terminal.write([
        "messages": .integer(Int64(summary.messages)), "late": .integer(Int64(summary.late)),
        "refused": Self.json(summary.refused),
      ])
    } else {
      try terminal.write("rebuilt from \(summary.messages) messages, and \(summary.late) that arrived meanwhile\n")
      tell(summary.refused)
    }
    return .done
  }

  private func sayStopped(_ wantsJSON: Bool) {
    if wantsJSON {
      let summary: JSONObject = ["messages": .integer(Int64(progress.count)), "complete": false]
      try? terminal.write(summary.notingStop(of: stop))
    } else {
      terminal.note("\(progress.count) messages read")
    }
  }

  private func rehearse(_ wantsJSON: Bool) async throws -> ExitStatus {
    let rehearsal = try await rebuild.plan(at: WallClock.system.now())
    CommandShutdown.current?.summarize(nil)
    if wantsJSON {
      try terminal.write([
        "messages": .integer(Int64(rehearsal.messages)), "dryRun": true,
        "isEqual": .bool(rehearsal.isEqual), "refused": Self.json(rehearsal.refused),
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
    if !wantsJSON { tell(rehearsal.refused) }
    return rehearsal.isEqual ? .done : .differences
  }

  private func tell(_ refused: Rebuild.Refused) {
    guard refused.count > 0 else { return }
    terminal.note(
      "\(refused.count) messages were left out: this build refuses them, and they are not signed by Apple. They stay in "
        + "the inbox; what was known from them alone is not in the rebuilt tables:")
    for example in refused.examples { terminal.note("  \(example.digest.hex) \(example.reason)") }
    let more = refused.count - refused.examples.count
    if more > 0 { terminal.note("  and \(more) more") }
  }

  private static func json(_ refused: Rebuild.Refused) -> JSONValue {
    let examples = refused.examples.map { example -> JSONValue in
      ["message": .string(example.digest.hex), "reason": .string(example.reason)]
    }
    return ["count": .integer(Int64(refused.count)), "examples": .array(examples)]
  }

  private static func json(_ lines: Rebuild.Rehearsal.Lines) -> JSONValue {
    ["count": .integer(Int64(lines.count)), "examples": .array(lines.examples.map(JSONValue.string))]
  }
}

/// A message was rejected before tables were exchanged; a later rejection throws a `Rebuild.Failure`.
private struct NothingChanged: ExitStatusError, CustomStringConvertible {
  let because: RefusedMessage

  var exitStatus: ExitStatus { because.exitStatus }
  var description: String { "nothing was changed: \(because)" }
}
