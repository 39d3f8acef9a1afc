import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Time

/// `switchyard rollout url`: the notification URL of an app, and the settings in App Store Connect.
enum RolloutURL {
  static let command = Command(
    "url", "Show in which version Apple posts an app's notifications, and what to set in App Store Connect.",
    discussion: """
      V1 and V2 are when the last notification of each version came, TEST is the service's own daily test, which \
      Apple sends only in version 2. After the version was changed to 2, Apple retries notifications of version 1 for up to 78 hours: \
      LATE V1 UNTIL shows until when. Nothing is changed, and Apple is not asked.
      """,
    examples: [
      Command.Example("switchyard rollout url com.example.app"),
      Command.Example("switchyard rollout url com.example.app --public-url https://switchyard.example.com"),
    ],
    options: [
      .value("public-url", "URL", "Where Apple reaches the service; the URL to be set is shown with it."),
      JSONOutput.option,
    ],
    arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let app = arguments.positionals[0]
    let base = arguments.value("public-url") ?? "https://HOST"
    let url = "\(base.hasSuffix("/") ? String(base.dropLast()) : base)/notifications/\(app)"
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let now = WallClock.system.now()
      let arrivals = try await NotificationArrival.all(of: app, at: now, on: connection)
      if arguments.wantsJSON {
        for arrival in arrivals { try terminal.write(arrival.json(url, at: now)) }
        return .done
      }
      var table = TextTable([
        .init("ENVIRONMENT"), .init("STATE"), .init("LAST V1"), .init("LAST V2"), .init("TEST"), .init("LATE V1 UNTIL"),
      ])
      for arrival in arrivals {
        table.add([
          arrival.environment, arrival.state.rawValue, arrival.lastV1?.iso8601 ?? "-", arrival.lastV2?.iso8601 ?? "-",
          arrival.test, arrival.lateUntil?.iso8601 ?? "-",
        ])
      }
      try terminal.write(table.render(for: terminal))
      for arrival in arrivals { terminal.note("\(arrival.environment): \(arrival.advice(url, at: now))") }
      return .done
    }
  }
}

extension NotificationArrival {
  fileprivate var environment: String { standing.flag.environment.rawValue }

  fileprivate var test: String {
    guard let heartbeat else { return "-" }
    if heartbeat.lostSince != nil { return "lost" }
    if heartbeat.token == nil { return "not asked" }
    return heartbeat.returnedAt == nil ? "in progress" : "arrived"
  }

  fileprivate func advice(_ url: String, at now: Timestamp) -> String {
    if isQuiet(at: now) {
      return "nothing has come for more than a day, or the daily TEST is lost: runbooks/missed-notifications.md"
    }
    let place = "App Store Connect, App Information, App Store Server Notifications"
    switch state {
    case .silent: return "nothing came yet. \(place): set the \(environment) Server URL to \(url)"
    case .v1: return "Apple posts version 1. When nothing needs it, set the version to 2 (\(place))"
    case .both:
      return "Apple posts version 2; what it began in version 1 may still come until \(lateUntil?.iso8601 ?? "-")"
    case .v2: return "Apple posts version 2. Nothing is left to be done"
    }
  }

  fileprivate func json(_ url: String, at now: Timestamp) -> JSONObject {
    let app = standing.app.bundleID
    let next =
      state == .v2
      ? "switchyard rollout status \(app)"
      : "switchyard api test-notification --app \(app) --environment \(environment)"
    return [
      "app": .string(app), "environment": .string(environment), "state": .string(state.rawValue),
      "lastV1": JSONValue(lastV1?.sinceEpoch), "lastV2": JSONValue(lastV2?.sinceEpoch), "test": .string(test),
      "lateV1Until": JSONValue(lateUntil?.sinceEpoch), "url": .string(url), "advice": .string(advice(url, at: now)),
      "next_steps": [.string(next)],
    ]
  }
}
