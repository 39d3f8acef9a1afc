import Database
import JSON
import Ledger
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard app legacy-url`: where an app's old back end hears what Apple sends.
enum AppLegacyURL {
  static let command = Command(
    "legacy-url", "Name the old back end that goes on hearing what Apple sends, or end the forwarding.",
    discussion: """
      In the stage record each notification is stored and then posted there as it came, with a webhook-id by which a \
      repeat is known; in legacy it is passed through while Apple waits. What waits in the outbox goes to the new URL. \
      With `off` it stays there until a URL is named again; what arrives meanwhile is not forwarded.
      """,
    examples: [
      Command.Example(
        "switchyard app legacy-url com.example.app --environment Production https://backend.example.com/apple"),
      Command.Example("switchyard app legacy-url com.example.app --environment Production off"),
    ],
    options: [
      EnvironmentOption.option, .flag("dry-run", "Say what would be done and do nothing."), JSONOutput.option,
    ],
    arguments: [AppCommand.bundleID, Positional("URL", "http or https, or the word off.")]
  ) { arguments, terminal in
    let environment = try EnvironmentOption.required(arguments)
    let url = arguments.positionals[1]
    if url != "off" { try check(url, "A legacy URL", arguments) }
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let record = try await AppRecord.find(arguments.positionals[0], connection)
      let scope = Ledger.Scope(app: record.app.id, environment: environment)
      let before = try await connection.read { session throws(DatabaseError) in
        try DestinationTable.legacy(of: scope, in: session)
      }
      if url == "off", record.flags.contains(where: { $0.environment == environment && $0.stage == .legacy }) {
        throw LegacyNeedsURL(bundleID: record.app.bundleID)
      }
      let isDry = arguments.flag("dry-run")
      let change = change(from: before, to: url)
      if !isDry, let change {
        try await write(url, over: before, scope, record.app.bundleID, change, connection)
      }
      let warning = isReadable(url) ? plainHTTP : nil
      if arguments.wantsJSON {
        try terminal.write([
          "app": .string(record.app.bundleID), "environment": .string(environment.rawValue), "dryRun": .bool(isDry),
          "change": JSONValue(change), "warning": JSONValue(warning),
        ])
      } else {
        try terminal.write("\(isDry && change != nil ? "would: " : "")\(change ?? "nothing to change")\n")
        if let warning { terminal.note("warning: \(warning)") }
      }
      return .done
    }
  }

  static func check(_ url: String, _ what: String, _ arguments: ParsedArguments) throws(UsageError) {
    let isURL = ["http://", "https://"].contains { url.hasPrefix($0) && url.utf8.count > $0.utf8.count }
    let isPlain = url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
    let authority = url.split(separator: "/", maxSplits: 2).dropFirst().first ?? ""
    guard isURL, isPlain, url.utf8.count <= 2_048, !authority.contains("@") else {
      throw UsageError(
        .invalidValue, "\(what) is http or https, at most 2048 bytes of ASCII, without user or password; or off.",
        path: arguments.path)
    }
  }

  private static let plainHTTP =
    "the URL is plain http: the app's shared secret and its customers' purchases can be read on the way; name an https URL"

  /// Whether others can read what is sent there: plain http to another host.
  private static func isReadable(_ url: String) -> Bool { url.hasPrefix("http://") && !Destination.isLoopback(url) }

  /// Hosts only, in the audit as well: paths and queries may hold secrets.
  private static func change(from before: Destination?, to url: String) -> String? {
    guard url != "off" else {
      return before.flatMap { $0.isEnabled ? "stop forwarding to \($0.host)" : nil }
    }
    if let before, before.isEnabled, before.url == url { return nil }
    let named = Destination.host(of: url)
    guard let before else { return "forward to \(named)" }
    return "forward to \(named) instead of \(before.isEnabled ? before.host : "nowhere")"
  }

  private static func write(
    _ url: String, over before: Destination?, _ scope: Ledger.Scope, _ bundleID: String, _ change: String,
    _ connection: Connection
  ) async throws {
    let (now, actor) = (WallClock.system.now(), OperatingSystemUser.name)
    let reason = "\(scope.environment.rawValue): \(change)"
    try await connection.transaction { session throws(DatabaseError) in
      if url != "off" {
        try DestinationTable.setLegacy(url, of: scope, at: now, in: session)
      } else if let before {
        try DestinationTable.disable(before, at: now, in: session)
      }
      try AuditTable.note("app.legacy-url", of: bundleID, by: actor, because: reason, at: now, in: session)
    }
  }
}

/// The URL cannot go while the stage needs it.
struct LegacyNeedsURL: ExitStatusError, CustomStringConvertible {
  let bundleID: String

  var exitStatus: ExitStatus { .refused }

  var description: String {
    "\(bundleID) is in legacy, where Apple's notifications go to this URL alone: `switchyard rollout set` record first"
  }
}
