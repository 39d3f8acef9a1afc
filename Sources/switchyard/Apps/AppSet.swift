import Database
import JSON
import Ledger
import Purchases
import Runtime
import Time

/// `switchyard app set`: what an operator decides for one app.
enum AppSet {
  static let command = Command(
    "set", "Decide what holds for an app.",
    discussion: """
      --legacy-entitlements: whether what V1 alone says (notifications, verifyReceipt answers) may change what customers \
      are entitled to while the app is in record. deny, the default: what Apple signed decides, the rest is shown and \
      marked as unconfirmed. allow: all sources decide. Beyond record it is always deny.
      """,
    examples: [
      Command.Example("switchyard app set com.example.app --legacy-entitlements allow"),
      Command.Example("switchyard app set com.example.app --legacy-entitlements deny --dry-run"),
    ],
    options: [
      .value(
        "legacy-entitlements", "POLICY", choices: LegacyEntitlements.allCases.map(\.rawValue),
        "Whether V1 data alone may change entitlements."),
      .flag("dry-run", "Say what would be done and do nothing."), JSONOutput.option,
    ], arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let wanted: LegacyEntitlements? = try arguments.choice("legacy-entitlements")
    guard let wanted else {
      throw UsageError(.missingOption, "Say what to set: --legacy-entitlements allow or deny.", path: arguments.path)
    }
    let isDry = arguments.flag("dry-run")
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let record = try await AppRecord.find(arguments.positionals[0], connection)
      let (app, before, now) = (record.app, record.legacyEntitlements, WallClock.system.now())
      let change = "legacy entitlements \(before.rawValue) to \(wanted.rawValue)"
      if !isDry, before != wanted {
        try await connection.transaction { session throws(DatabaseError) in
          try PolicyTable.set(legacyEntitlements: wanted, of: app, at: now, in: session)
          try AuditTable.note(
            "app.set", of: app.bundleID, by: OperatingSystemUser.name, because: change, at: now, in: session)
        }
      }
      if arguments.wantsJSON {
        try terminal.write([
          "app": .string(app.bundleID), "dryRun": .bool(isDry), "legacyEntitlements": .string(wanted.rawValue),
          "before": .string(before.rawValue),
        ])
      } else {
        let text = before == wanted ? "nothing to change: it is \(wanted.rawValue)" : change
        try terminal.write("\(isDry ? "would: " : "")\(text)\n")
      }
      return .done
    }
  }
}

extension LegacyEntitlements {
  /// What it means, in a few words.
  var summary: String {
    switch self {
    case .allow: "all sources decide about access while in record"
    case .deny: "signed sources decide about access"
    }
  }
}
