import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Time

/// `switchyard app set`: the policies of one app.
enum AppSet {
  static let command = Command(
    "set", "Decide what holds for an app.",
    discussion: """
      --hold-access: Apple is asked to confirm each change that only V1 reports. If the signed period ends before Apple \
      has answered, as when its API is down, access is held for up to this many hours, 0 to 72. 72 is the default, 0 holds \
      nothing. Access is held only for a customer whose signed access lasted to its end while V1 reports a renewal. \
      Apple's answer ends it.

      --forward-unproven: whether unproven messages are forwarded to the app's destination. A message is unproven if it \
      has neither a valid signature nor the app's shared secret. allow (default): it is sent once, and again up to three \
      times if the back end does not answer. deny: it stays in quarantine until `switchyard quarantine replay` accepts it.

      --consumption: the answer to Apple, within 12 hours, when a customer asks for a refund. ignore, the default: \
      nothing. fixed: the same answer each time, of --consumption-file; it must say that customers consented. ask: your \
      back end is asked at --consumption-url; it answers 200 with Apple's ConsumptionRequest, or 204 to send Apple nothing.

      --answer-reading: how verifyReceipt responses read a rule that is not proven yet, by the row of `switchyard \
      mappings show answer-rules`. Repeat it for several rules. The rows that are named replace the earlier choice; \
      default goes back to the default of every rule.

      --answer-clients: which clients get subscriptions without the app's shared secret. password, the default: no \
      client. token: requests without a password that carry the app's bearer token, or come from a client whose \
      certificate `app token --certificate` registered.
      """,
    examples: [
      Command.Example("switchyard app set com.example.app --hold-access 24h"),
      Command.Example("switchyard app set com.example.app --hold-access 0h --dry-run"),
      Command.Example("switchyard app set com.example.app --forward-unproven deny"),
      Command.Example("switchyard app set com.example.app --answer-reading Y-009 --answer-reading Y-011"),
      Command.Example(
        "switchyard app set com.example.app --consumption ask --consumption-url https://example.com/used"),
    ],
    options: [
      // Accepted without effect.
      .value("legacy-entitlements", "POLICY", choices: ["deny"], ""),
      .value("hold-access", "TIME", "How long access may be held while Apple is asked, in hours, 0 to 72h."),
      .value(
        "forward-unproven", "POLICY", choices: UnprovenForwarding.allCases.map(\.rawValue),
        "Whether unproven messages are forwarded."),
      .value(
        "answer-reading", "ROW", repeats: true, "Choose a row of answer-rules, or default; may be repeated."),
      .value(
        "answer-clients", "POLICY", choices: AnswerClients.allCases.map(\.rawValue),
        "The clients that get subscriptions without the shared secret."),
    ] + ConsumptionOptions.options + [
      .flag("dry-run", "Say what would be done and do nothing."), JSONOutput.option,
    ] + MasterKeyOptions.options, arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let hold = try arguments.duration("hold-access", in: .seconds(0)...(.hours(Int64(AccessHold.longest)))).map {
      AccessHold(hours: Int($0.milliseconds / Interval.hours(1).milliseconds))
    }
    let unproven: UnprovenForwarding? = try arguments.choice("forward-unproven")
    let consumption = try ConsumptionOptions(arguments)
    let readings = try readings(arguments)
    let clients: AnswerClients? = try arguments.choice("answer-clients")
    guard
      hold != nil || unproven != nil || consumption != nil || readings != nil || clients != nil
        || arguments.value("legacy-entitlements") != nil
    else {
      throw UsageError(
        .missingOption,
        "Specify --hold-access, --forward-unproven, --consumption, --answer-reading or --answer-clients.",
        path: arguments.path)
    }
    var set = SetAppPolicies(of: arguments.positionals[0])
    (set.accessHold, set.unprovenForwarding) = (hold, unproven)
    set.consumption = consumption?.choice
    (set.answerReadings, set.answerClients) = (readings, clients)
    let (options, policies) = (try DatabaseOptions(arguments), set)
    return try await options.withLedger(terminal) { connection in
      let plan = try await policies.plan(on: connection)
      if !arguments.flag("dry-run") {
        let keys = MasterKeyOptions(arguments, database: options).source(terminal)
        try await policies.apply(
          plan, sealedWith: keys, by: .ofCommand(), at: WallClock.system.now(), on: connection)
      }
      try show(policies, plan, arguments, terminal)
      return .done
    }
  }

  private static func readings(_ arguments: ParsedArguments) throws -> RuleChoices? {
    let words = arguments.values("answer-reading")
    guard !words.isEmpty else { return nil }
    guard words.contains("default") else { return try RuleChoices(words) }
    guard words == ["default"] else {
      throw UsageError(
        .invalidValue, "--answer-reading default excludes other values: it restores every default.",
        path: arguments.path)
    }
    return .defaults
  }

  private static func show(
    _ set: SetAppPolicies, _ plan: SetAppPolicies.Plan, _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws {
    let (record, changes, isDry) = (plan.before, plan.changes, arguments.flag("dry-run"))
    if arguments.wantsJSON {
      var object: JSONObject = ["app": .string(record.app.bundleID), "dryRun": .bool(isDry)]
      if let hold = set.accessHold {
        object["holdAccessHours"] = .integer(Int64(hold.hours))
        object["holdAccessHoursBefore"] = .integer(Int64(record.accessHold.hours))
      }
      if let unproven = set.unprovenForwarding {
        object["forwardUnproven"] = .string(unproven.rawValue)
        object["forwardUnprovenBefore"] = .string(record.unprovenForwarding.rawValue)
      }
      if let consumption = set.consumption {
        object["consumption"] = .string(consumption.policy.summary)
        object["consumptionBefore"] = .string(record.consumption.summary)
      }
      if let readings = set.answerReadings {
        object["answerReadings"] = .array(readings.ids.map { .string($0) })
        object["answerReadingsBefore"] = .array(record.answerReadings.map { .string($0) })
      }
      if let clients = set.answerClients {
        object["answerClients"] = .string(clients.rawValue)
        object["answerClientsBefore"] = .string(record.answerClients.rawValue)
      }
      try terminal.write(object)
    } else if changes.isEmpty {
      let now = [
        arguments.value("legacy-entitlements"), (set.accessHold?.summary).map { "hold access \($0)" },
        (set.unprovenForwarding?.rawValue).map { "forward unproven \($0)" },
        (set.consumption?.policy.summary).map { "consumption \($0)" },
        (set.answerReadings?.summary).map { "answer readings \($0)" },
        (set.answerClients?.rawValue).map { "answer clients \($0)" },
      ].compactMap(\.self)
      try terminal.write("\(isDry ? "would: " : "")nothing to change: it is \(now.joined(separator: ", "))\n")
    } else {
      for change in changes { try terminal.write("\(isDry ? "would: " : "")\(change)\n") }
    }
  }
}

extension AnswerClients {
  var summary: String {
    switch self {
    case .password: "password: subscriptions are shown only with the shared secret"
    case .token: "token: subscriptions are shown without a password too, with the app's bearer token"
    }
  }
}

extension UnprovenForwarding {
  var summary: String {
    switch self {
    case .allow: "allow: unproven messages are forwarded"
    case .deny: "deny: unproven messages stay in quarantine"
    }
  }
}
