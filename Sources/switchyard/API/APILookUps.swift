import AppStore
import JSON
import Runtime
import Seeding
import Signing
import Time
import Wire

/// `switchyard api status|transaction|order|app-transaction`: one answer to one question.
enum APILookUps {
  static let transaction = Command(
    "transaction", "Show one purchase.",
    examples: [Command.Example("switchyard api transaction 2000000123456789 --app com.example.app")],
    arguments: [APILists.transactionID]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal, about: .transaction(arguments.positionals[0])) { access in
      let reply = try await access.client.send(
        .transactionInfo(arguments.positionals[0]), as: access.credentials, along: access.route)
      var rows = SignedRows(access, terminal)
      try rows.add(access.verifying(reply).transaction(reply.answer.signedTransactionInfo ?? ""))
      return try rows.finish()
    }
  }

  static let order = Command(
    "order", "Show the purchases of an order, by the id on the customer's invoice.",
    examples: [Command.Example("switchyard api order MK5TTTVWJH --app com.example.app")],
    arguments: [Positional("ORDER_ID", "As the invoice shows it.")]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal, about: .order(arguments.positionals[0])) { access in
      let reply = try await access.order(arguments.positionals[0], terminal)
      if reply.answer.isUnknown {
        let places = access.environment.map { " in \($0.rawValue)" } ?? ""
        terminal.note("Apple knows no such order of this app\(places)")
        if access.wantsJSON { try terminal.write(reply.json ?? [:]) }
        return .failed
      }
      await access.keep(order: arguments.positionals[0], reply, terminal)
      var rows = SignedRows(access, terminal)
      for jws in reply.answer.signedTransactions ?? [] { try rows.add(access.verifying(reply).transaction(jws)) }
      return try rows.finish()
    }
  }

  static let appTransaction = Command(
    "app-transaction", "Show the download of the app by the customer that a transaction is of.",
    examples: [Command.Example("switchyard api app-transaction 2000000123456789 --app com.example.app")],
    arguments: [APILists.transactionID]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal, about: .transaction(arguments.positionals[0])) { access in
      let reply = try await access.client.send(
        .appTransactionInfo(of: arguments.positionals[0]), as: access.credentials, along: access.route)
      let item = access.verifying(reply).appTransaction(reply.answer.signedAppTransactionInfo ?? "")
      switch item.outcome {
      case .failure(let error):
        terminal.note("REFUSED \(error)")
        return .failed
      case .success(let verified):
        if access.wantsJSON {
          try terminal.write(verified.payload)
        } else {
          for member in verified.payload { try terminal.write("\(MemberText.line(member))\n") }
        }
        return .done
      }
    }
  }

  static let status = Command(
    "status", "Show the subscriptions of a customer as Apple sees them now.",
    examples: [Command.Example("switchyard api status 2000000123456789 --app com.example.app")],
    options: [.value("status", "NUMBER", repeats: true, choices: ["1", "2", "3", "4", "5"], "Only these.")],
    arguments: [APILists.transactionID]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal, about: .transaction(arguments.positionals[0])) { access in
      let reply = try await access.client.send(
        .subscriptionStatuses(
          of: arguments.positionals[0], statuses: arguments.values("status").compactMap { Int64($0) }),
        as: access.credentials, along: access.route)
      let verifying = access.verifying(reply)
      var table = TextTable([
        .init("GROUP"), .init("ORIGINAL"), .init("STATUS"), .init("PRODUCT"), .init("EXPIRES"), .init("RENEWS"),
        .init("NEXT PRODUCT"),
      ])
      var refused = 0
      for group in reply.answer.data ?? [] {
        for last in group.lastTransactions ?? [] {
          let transaction = verifying.transaction(last.signedTransactionInfo ?? "")
          let renewal = verifying.renewal(last.signedRenewalInfo ?? "")
          for case .failure(let error) in [transaction.outcome, renewal.outcome] {
            refused += 1
            terminal.note("REFUSED \(error)")
          }
          let payload = renewal.payload.map { RenewalPayload($0) }
          if access.wantsJSON {
            try terminal.write([
              "subscriptionGroupIdentifier": JSONValue(group.subscriptionGroupIdentifier),
              "originalTransactionId": JSONValue(last.originalTransactionId), "status": JSONValue(last.status),
              "transaction": transaction.payload.map(JSONValue.object) ?? .null,
              "renewal": renewal.payload.map(JSONValue.object) ?? .null,
            ])
          }
          table.add([
            group.subscriptionGroupIdentifier ?? "-", last.originalTransactionId ?? "-", word(last.status),
            transaction.transaction?.productId ?? "-", transaction.transaction?.expiresDate?.iso8601 ?? "-",
            payload?.autoRenewStatus.map { $0 == 1 ? "yes" : "no" } ?? "-", payload?.autoRenewProductId ?? "-",
          ])
        }
      }
      if !access.wantsJSON { try terminal.write(table.render(for: terminal)) }
      return refused == 0 ? .done : .doneWithRejects
    }
  }

  /// Apple's numbers in words.
  private static func word(_ status: Int64?) -> String {
    switch status {
    case 1: "active"
    case 2: "expired"
    case 3: "billing retry"
    case 4: "grace period"
    case 5: "revoked"
    case let other: other.map { "\($0)" } ?? "-"
    }
  }
}

extension OrderLookupResponse {
  fileprivate var isUnknown: Bool { status == 1 }
}

extension APIAccess {
  /// What Apple says of an order, in Production or else in the sandbox; of Production where neither knows it.
  ///
  /// Apple answers with success about an order that it does not know, so that no route leads on.
  fileprivate func order(_ id: String, _ terminal: Terminal) async throws(CallFailure) -> Reply<OrderLookupResponse> {
    let first: Reply<OrderLookupResponse>
    do throws(CallFailure) {
      first = try await client.send(.order(id), as: credentials, in: environment ?? .production)
    } catch {
      var route = self.route
      guard case .ask(let next) = route.failed(error, in: environment ?? .production) else { throw error }
      return try await client.send(.order(id), as: credentials, in: next)
    }
    guard first.answer.isUnknown, environment == nil else { return first }
    do throws(CallFailure) {
      let second = try await client.send(.order(id), as: credentials, in: .sandbox)
      return second.answer.isUnknown ? first : second
    } catch {
      terminal.note("the sandbox does not say whether it knows the order: \(error)")
      return first
    }
  }

  /// Proves what is in a reply: of this app, and of the environment that answered.
  func verifying<Answer>(_ reply: Reply<Answer>) -> ItemVerifier {
    ItemVerifier(
      verifier: verifier, bundleID: credentials.bundleID, environment: reply.environment, now: reply.receivedAt)
  }
}
