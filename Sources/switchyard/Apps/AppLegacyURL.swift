import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Time

/// `switchyard app legacy-url`: the destination to which an app's notifications are forwarded.
enum AppLegacyURL {
  static let command = Command(
    "legacy-url", "Name the back end to which Apple's notifications are forwarded, or end the forwarding.",
    discussion: """
      In the stage record each notification is stored and then posted there unchanged, with a webhook-id that \
      identifies repeats; in legacy it is passed through while Apple waits. Messages that wait in the outbox go \
      to the new URL. \
      With `off` they stay there until a URL is named again; what arrives meanwhile is not forwarded.
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
    let environments = try EnvironmentOption.environments(arguments)
    let url = arguments.positionals[1]
    if url != "off" { try check(url, "A legacy URL", arguments) }
    let isDry = arguments.flag("dry-run")
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      var plans: [(Environment, SetLegacyURL, SetLegacyURL.Plan)] = []
      for environment in environments {
        let forwarding = SetLegacyURL(url == "off" ? nil : url, of: arguments.positionals[0], in: environment)
        plans.append((environment, forwarding, try await forwarding.plan(on: connection)))
      }
      for (environment, forwarding, plan) in plans {
        if !isDry {
          try await forwarding.apply(plan, by: .ofCommand(), at: WallClock.system.now(), on: connection)
        }
        try tell(plan, environment, url, isDry: isDry, arguments, terminal)
      }
      if BackEndURL.isReadableByOthers(url), !arguments.wantsJSON { terminal.note("warning: \(plainHTTP)") }
      return .done
    }
  }

  private static func tell(
    _ plan: SetLegacyURL.Plan, _ environment: Environment, _ url: String, isDry: Bool, _ arguments: ParsedArguments,
    _ terminal: Terminal
  ) throws {
    guard arguments.wantsJSON else {
      return try terminal.write(
        "\(isDry && plan.change != nil ? "would: " : "")\(environment.rawValue): \(plan.change ?? "nothing to change")\n"
      )
    }
    try terminal.write([
      "app": .string(plan.app.bundleID), "environment": .string(environment.rawValue), "dryRun": .bool(isDry),
      "change": JSONValue(plan.change),
      "warning": JSONValue(BackEndURL.isReadableByOthers(url) ? plainHTTP : nil),
    ])
  }

  static func check(_ url: String, _ what: String, _ arguments: ParsedArguments) throws(UsageError) {
    guard BackEndURL.isUsable(url) else {
      throw UsageError(
        .invalidValue, "\(what) is http or https, at most 2048 bytes of ASCII, without user or password; or off.",
        path: arguments.path)
    }
  }

  private static let plainHTTP =
    "the URL is plain http: the app's shared secret and its customers' purchases can be read in transit; name an https URL"
}
