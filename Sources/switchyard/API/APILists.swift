import AppStore
import JSON
import Runtime
import Seeding
import Time
import Wire

/// `switchyard api history|refunds|notification-history`: lists in pages, walked to their end.
enum APILists {
  static let history = Command(
    "history", "List every purchase of the customer that a transaction is of.",
    discussion: """
      The last line on stderr names the revision: --revision continues there another day, or where a walk broke off.
      """,
    examples: [
      Command.Example("switchyard api history 2000000123456789 --app com.example.app"),
      Command.Example(
        "switchyard api history 2000000123456789 --product-type AUTO_RENEWABLE --json --app com.example.app"),
    ],
    options: [
      .value("revision", "TEXT", "Begin after what an earlier walk has seen."),
      .value("product", "ID", repeats: true, "Only these products."),
      .value(
        "product-type", "TYPE", repeats: true, choices: HistoryFilter.ProductType.allCases.map(\.rawValue),
        "Only these types."),
      .value("sort", "ORDER", choices: HistoryFilter.Sort.allCases.map(\.rawValue), "By the time of the last change."),
      .value("revoked", "BOOL", choices: ["true", "false"], "Only revoked ones, or only others."),
      .flag("v1", "Ask the deprecated version, which leaves finished consumables out."),
    ], arguments: [transactionID]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal, about: .transaction(arguments.positionals[0])) { access in
      var filter = HistoryFilter()
      filter.productIDs = arguments.values("product")
      filter.productTypes = arguments.values("product-type").compactMap(HistoryFilter.ProductType.init)
      filter.sort = try arguments.choice("sort")
      filter.revoked = arguments.value("revoked").map { $0 == "true" }
      let pages = HistoryPages(of: arguments.positionals[0], filter, isV1: arguments.flag("v1"))
      return try await walk(pages, access, arguments, terminal) { $0 }
    }
  }

  static let refunds = Command(
    "refunds", "List the refunded purchases of a customer.",
    examples: [Command.Example("switchyard api refunds 2000000123456789 --app com.example.app")],
    options: [.value("revision", "TEXT", "Begin after what an earlier walk has seen.")], arguments: [transactionID]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal, about: .transaction(arguments.positionals[0])) { access in
      try await walk(RefundPages(of: arguments.positionals[0]), access, arguments, terminal) { $0 }
    }
  }

  static let transactionID = Positional("TRANSACTION_ID", "Any transaction id of the customer.")

  /// Walks through the pages in the first environment that knows the id; what was seen of one that breaks off is shown.
  private static func walk<Source: PageSource>(
    _ source: Source, _ access: APIAccess, _ arguments: ParsedArguments, _ terminal: Terminal,
    _ item: (Source.Item) -> SignedItem
  ) async throws -> ExitStatus {
    var route = access.route
    guard var environment = route.current else { return .failed }
    while true {
      var rows = SignedRows(access, terminal)
      var (walked, revision) = (0, nil as String?)
      do {
        let pages = Pages(
          source, access.client, as: access.credentials, in: environment, verifiedBy: access.verifier, .interactive,
          resumingAt: arguments.value("revision"))
        for try await page in pages {
          for each in page.items { try rows.add(item(each)) }
          if page.isFromBeginning, walked == 0 {
            terminal.note("Apple does not take that revision any more: from the beginning")
          }
          (walked, revision) = (walked + 1, page.cursor)
        }
        let status = try rows.finish()
        if rows.count == 0 {
          terminal.note("nothing at all: Apple answers so to a wrong bundle id, too; switchyard api check tells")
        }
        terminal.note("\(rows.count) in \(environment.rawValue); revision \(revision ?? "none")")
        return status
      } catch let failure as CallFailure {
        guard walked == 0 else {
          // The customer is known here: the other environment does not continue his list.
          _ = try rows.finish()
          terminal.note("broken off after \(rows.count) in \(environment.rawValue); revision \(revision ?? "none")")
          throw failure
        }
        switch route.failed(failure, in: environment) {
        case .ask(let next): environment = next
        case .giveUp(let failure): throw failure
        }
      }
    }
  }

  static let notifications = Command(
    "notification-history", "List the notifications that Apple sent, and how the sending went.",
    examples: [
      Command.Example(
        "switchyard api notification-history --environment Production --only-failures --app com.example.app"),
      Command.Example(
        "switchyard api notification-history --environment Sandbox --days 1 --type REFUND --app com.example.app"),
    ],
    options: [
      .value("days", "NUMBER", default: "7", "How far back, at most 180."),
      .value("type", "TYPE", "Only this notificationType."),
      .value("subtype", "SUBTYPE", "Only this subtype; with --type."),
      .value("transaction", "ID", "Only of this transaction."),
      .flag("only-failures", "Only those that did not arrive."),
    ]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal) { access in
      let environment = try access.environment(arguments)
      let now = access.client.timing.clock.now()
      let days = try arguments.integer("days", in: 1...180) ?? 7
      let request = NotificationHistoryRequest(
        startDate: now - .days(Int64(days)) + .minutes(days == 180 ? 5 : 0), endDate: now,
        notificationType: arguments.value("type"), notificationSubtype: arguments.value("subtype"),
        transactionId: arguments.value("transaction"), onlyFailures: arguments.flag("only-failures") ? true : nil)
      let pages = Pages(
        NotificationPages(request), access.client, as: access.credentials, in: environment,
        verifiedBy: access.verifier, .interactive)
      return try await APINotifications.show(pages, access, terminal)
    }
  }
}
