import AppStore
import JSON
import Runtime
import Time
import Wire

/// `switchyard api test-notification`, and how notifications are shown.
enum APINotifications {
  static let test = Command(
    "test-notification", "Let Apple send a TEST notification, or tell what became of one.",
    discussion: """
      The token that is printed is asked about with --status, some seconds later; exit status 0: it arrived at last.
      """,
    examples: [
      Command.Example("switchyard api test-notification --app com.example.app --environment Sandbox"),
      Command.Example("switchyard api test-notification --environment Sandbox --status TOKEN --app com.example.app"),
    ],
    options: [
      .value("status", "TOKEN", "Tell what became of this test instead of asking for another."), Command.dryRun,
    ]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal) { access in
      let environment = try access.environment(arguments)
      guard let token = arguments.value("status") else {
        return try await access.change(
          .testNotification(), "Apple sends a TEST to the app's URL of \(environment.rawValue)", arguments, terminal)
      }
      let reply = try await access.client.send(
        .testNotificationStatus(token), as: access.credentials, in: environment)
      return try show(reply, access, terminal)
    }
  }

  /// What became of a test; done when it arrived at last and Apple signed it.
  private static func show(
    _ reply: Reply<CheckTestNotificationResponse>, _ access: APIAccess, _ terminal: Terminal
  ) throws -> ExitStatus {
    let attempts = reply.answer.sendAttempts ?? []
    let item = NotificationItem(
      signedPayload: reply.answer.signedPayload ?? "", sendAttempts: attempts, verifiedBy: access.verifying(reply))
    if case .failure(let error) = item.outcome { terminal.note("REFUSED \(error)") }
    if access.wantsJSON {
      try terminal.write(json(item))
    } else {
      var table = TextTable([.init("ATTEMPT"), .init("RESULT")])
      for attempt in attempts {
        table.add([attempt.attemptDate?.iso8601 ?? "-", attempt.sendAttemptResult ?? "-"])
      }
      try terminal.write(table.render(for: terminal))
    }
    return item.notification != nil && attempts.last?.sendAttemptResult == "SUCCESS" ? .done : .failed
  }

  /// What Apple signed, nothing where that is not proven, and how the sending went.
  private static func json(_ item: NotificationItem) -> JSONObject {
    [
      "notification": item.notification.map { .object($0.json) } ?? .null,
      "sendAttempts": .array(item.sendAttempts.map { .object($0.json) }),
    ]
  }

  /// Every notification of the pages, a line each; those of a list that breaks off too.
  static func show(
    _ pages: Pages<NotificationPages>, _ access: APIAccess, _ terminal: Terminal
  ) async throws -> ExitStatus {
    var table = TextTable([
      .init("SIGNED"), .init("TYPE"), .init("SUBTYPE"), .init("UUID"), .init("ATTEMPTS", .right), .init("LAST RESULT"),
    ])
    var (count, refused) = (0, 0)
    var brokenOff: CallFailure?
    do {
      for try await page in pages {
        for item in page.items {
          count += 1
          if case .failure(let error) = item.outcome {
            refused += 1
            terminal.note("REFUSED \(error)")
          }
          let attempts = item.sendAttempts
          if access.wantsJSON {
            try terminal.write(json(item))
          } else if let notification = item.notification {
            table.add([
              notification.signedDate?.iso8601 ?? "-", notification.notificationType ?? "-",
              notification.subtype ?? "", notification.notificationUUID ?? "-", "\(attempts.count)",
              attempts.last?.sendAttemptResult ?? "",
            ])
          }
        }
      }
    } catch let failure as CallFailure where count > 0 {
      brokenOff = failure
    }
    if !access.wantsJSON { try terminal.write(table.render(for: terminal)) }
    if refused > 0 { terminal.note("\(refused) of \(count) could not be proven") }
    if let brokenOff { throw brokenOff }
    return refused == 0 ? .done : refused == count ? .failed : .doneWithRejects
  }
}
