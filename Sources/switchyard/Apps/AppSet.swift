import Database
import JSON
import Ledger
import Purchases
import Runtime
import Signing
import Time

/// `switchyard app set`: what an operator decides for one app.
struct AppSet {
  static let command = Command(
    "set", "Decide what holds for an app.",
    discussion: """
      --legacy-entitlements: whether what V1 alone says (notifications, verifyReceipt answers) may change what customers \
      are entitled to while the app is in record. deny, the default: what Apple signed decides, the rest is shown and \
      marked as unconfirmed. allow: all sources decide. Beyond record it is always deny.

      --hold-access: while legacy entitlements are denied, Apple is asked to confirm each change that V1 alone reports. If \
      the signed period ends before Apple has answered, as when its API is down, access is held for up to this many hours, \
      0 to 72. 72 is the default, 0 holds nothing. Access is held only for a customer whose signed access lasted to its end \
      and whom V1 reports as renewed. Apple's answer ends it.

      --forward-unproven: whether unproven messages are forwarded to the app's old back end. A message is unproven if it \
      has neither a valid signature nor the app's shared secret. allow (default): it is sent once, and again up to three \
      times if the back end does not answer. deny: it stays in quarantine until `switchyard quarantine replay` accepts it.

      --consumption: what Apple is told, within 12 hours, when a customer asks for a refund. ignore, the default: \
      nothing. fixed: the same answer each time, of --consumption-file; it must say that customers consented. ask: your \
      back end is asked at --consumption-url; it answers 200 with Apple's ConsumptionRequest, or 204 to tell nothing.
      """,
    examples: [
      Command.Example("switchyard app set com.example.app --legacy-entitlements allow"),
      Command.Example("switchyard app set com.example.app --legacy-entitlements deny --dry-run"),
      Command.Example("switchyard app set com.example.app --hold-access 24"),
      Command.Example("switchyard app set com.example.app --forward-unproven deny"),
      Command.Example(
        "switchyard app set com.example.app --consumption ask --consumption-url https://example.com/used"),
    ],
    options: [
      .value(
        "legacy-entitlements", "POLICY", choices: LegacyEntitlements.allCases.map(\.rawValue),
        "Whether V1 data alone may change entitlements."),
      .value("hold-access", "HOURS", "How long access may be held while Apple is asked, 0 to 72."),
      .value(
        "forward-unproven", "POLICY", choices: UnprovenForwarding.allCases.map(\.rawValue),
        "Whether unproven messages are forwarded."),
    ] + ConsumptionOptions.options + [
      .flag("dry-run", "Say what would be done and do nothing."), JSONOutput.option,
    ] + MasterKeyOptions.options, arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let legacy: LegacyEntitlements? = try arguments.choice("legacy-entitlements")
    let hold = try arguments.integer("hold-access", in: 0...AccessHold.longest).map(AccessHold.init(hours:))
    let unproven: UnprovenForwarding? = try arguments.choice("forward-unproven")
    let consumption = try ConsumptionOptions(arguments)
    guard legacy != nil || hold != nil || unproven != nil || consumption != nil else {
      throw UsageError(
        .missingOption, "Specify --legacy-entitlements, --hold-access, --forward-unproven or --consumption.",
        path: arguments.path)
    }
    let options = try DatabaseOptions(arguments)
    return try await options.withLedger(terminal) { connection in
      let record = try await AppRecord.find(arguments.positionals[0], connection)
      let set = AppSet(record: record, legacy: legacy, hold: hold, unproven: unproven, consumption: consumption)
      let isDry = arguments.flag("dry-run")
      if !isDry, !set.changes.isEmpty {
        var keys: Keyring?
        if consumption?.token != nil {
          let hasSealed = try await connection.read { session throws(DatabaseError) in
            try CredentialTable.hasAny(in: session)
          }
          keys = try MasterKeyOptions(arguments, database: options).load(hasSealed: hasSealed) { terminal.note($0) }
        }
        try await set.write(keys, connection)
      }
      try set.show(isDry: isDry, arguments, terminal)
      return .done
    }
  }

  private let record: AppRecord
  private let legacy: LegacyEntitlements?
  private let hold: AccessHold?
  private let unproven: UnprovenForwarding?
  private let consumption: ConsumptionOptions?

  /// What is different from before, a sentence each.
  private var changes: [String] {
    var changes: [String] = []
    if let legacy, legacy != record.legacyEntitlements {
      changes.append("legacy entitlements \(record.legacyEntitlements.rawValue) to \(legacy.rawValue)")
    }
    if let hold, hold != record.accessHold {
      changes.append("hold access \(record.accessHold.summary) to \(hold.summary)")
    }
    if let unproven, unproven != record.unprovenForwarding {
      changes.append("forward unproven messages \(record.unprovenForwarding.rawValue) to \(unproven.rawValue)")
    }
    if let consumption {
      if consumption.policy != record.consumption {
        changes.append("consumption \(record.consumption.summary) to \(consumption.policy.summary)")
      }
      if consumption.token != nil { changes.append("a new token for the back end that is asked about consumption") }
    }
    return changes
  }

  private func write(_ keys: Keyring?, _ connection: Connection) async throws {
    let (app, now, changes) = (record.app, WallClock.system.now(), changes)
    let (legacy, hold, unproven, consumption) = (legacy, hold, unproven, consumption)
    try await connection.transaction { session throws(DatabaseError) in
      if let legacy { try PolicyTable.set(legacyEntitlements: legacy, of: app, at: now, in: session) }
      if let hold { try PolicyTable.set(accessHold: hold, of: app, at: now, in: session) }
      if let unproven { try UnprovenForwardingTable.set(unproven, of: app, at: now, in: session) }
      if let consumption {
        try ConsumptionPolicyTable.set(consumption.policy, of: app, at: now, in: session)
        if let token = consumption.token, let keys {
          try CredentialTable.put(
            token, kind: .callbackToken, name: ConsumptionOptions.tokenName, issuer: "", of: app, sealedWith: keys,
            at: now, in: session)
        }
      }
      try AuditTable.note(
        "app.set", of: app.bundleID, by: OperatingSystemUser.name, because: changes.joined(separator: "; "), at: now,
        in: session)
    }
  }

  private func show(isDry: Bool, _ arguments: ParsedArguments, _ terminal: Terminal) throws {
    if arguments.wantsJSON {
      var object: JSONObject = ["app": .string(record.app.bundleID), "dryRun": .bool(isDry)]
      if let legacy {
        object["legacyEntitlements"] = .string(legacy.rawValue)
        object["before"] = .string(record.legacyEntitlements.rawValue)
      }
      if let hold {
        object["holdAccessHours"] = .integer(Int64(hold.hours))
        object["holdAccessHoursBefore"] = .integer(Int64(record.accessHold.hours))
      }
      if let unproven {
        object["forwardUnproven"] = .string(unproven.rawValue)
        object["forwardUnprovenBefore"] = .string(record.unprovenForwarding.rawValue)
      }
      if let consumption {
        object["consumption"] = .string(consumption.policy.summary)
        object["consumptionBefore"] = .string(record.consumption.summary)
      }
      try terminal.write(object)
    } else if changes.isEmpty {
      let now = [
        legacy?.rawValue, (hold?.summary).map { "hold access \($0)" },
        (unproven?.rawValue).map { "forward unproven \($0)" },
        (consumption?.policy.summary).map { "consumption \($0)" },
      ].compactMap(\.self)
      try terminal.write("\(isDry ? "would: " : "")nothing to change: it is \(now.joined(separator: ", "))\n")
    } else {
      for change in changes { try terminal.write("\(isDry ? "would: " : "")\(change)\n") }
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

extension UnprovenForwarding {
  /// What it means, in a few words.
  var summary: String {
    switch self {
    case .allow: "allow: unproven messages are forwarded"
    case .deny: "deny: unproven messages stay in quarantine"
    }
  }
}

extension AccessHold {
  /// What it means, in a few words.
  var summary: String { self == .off ? "off" : "\(hours) hours" }
}
