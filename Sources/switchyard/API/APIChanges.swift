import AppStore
import JSON
import Runtime
import Wire

/// `switchyard api extend|extend-all|extend-status|consumption|account-token|finish`: what changes something at Apple's.
enum APIChanges {
  private static let originalID = Positional("ORIGINAL_TRANSACTION_ID", "The subscription's original transaction id.")

  private static let extensionOptions: [Option] = [
    .value("days", "NUMBER", "1 to 90."),
    .value(
      "reason", "NUMBER", choices: ["0", "1", "2", "3"], default: "0",
      "0 undeclared, 1 customer satisfaction, 2 other, 3 outage."),
    .value(
      "request", "TEXT",
      "Names the request, at most 128 characters. Whether Apple takes the same one for one request is not known."),
    Command.dryRun,
  ]

  private static func days(_ arguments: ParsedArguments) throws -> Int64 {
    guard let days = try arguments.integer("days", in: 1...90) else {
      _ = try arguments.required("days")
      return 0
    }
    return Int64(days)
  }

  static let extend = Command(
    "extend", "Extend a subscription: the customer pays later.",
    examples: [
      Command.Example(
        "switchyard api extend 2000000123456789 --days 7 --reason 3 --request outage-may --environment Production --app com.example.app"
      )
    ],
    options: extensionOptions, arguments: [originalID]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal) { access in
      let request = ExtendRenewalDateRequest(
        extendByDays: try days(arguments), extendReasonCode: Int64(arguments.value("reason") ?? "") ?? 0,
        requestIdentifier: try arguments.required("request"))
      return try await access.change(
        .extend(request, of: arguments.positionals[0]), of: .purchase(arguments.positionals[0]), "extended", arguments,
        terminal
      ) { answer in
        answer.success == true
          ? nil : "Apple does not say that it is extended\nnext: switchyard api status shows until when it runs"
      }
    }
  }

  static let extendAll = Command(
    "extend-all", "Extend every active subscription of a product.",
    examples: [
      Command.Example(
        "switchyard api extend-all com.example.pro --days 7 --reason 3 --request outage-may --environment Production --app com.example.app"
      )
    ],
    options: extensionOptions + [
      .value("storefront", "CODE", repeats: true, "Only these storefronts (ISO 3166-1 alpha-3).")
    ], arguments: [Positional("PRODUCT_ID", "The subscription's product id.")]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal) { access in
      let storefronts = arguments.values("storefront")
      let request = MassExtendRenewalDateRequest(
        extendByDays: try days(arguments), extendReasonCode: Int64(arguments.value("reason") ?? "") ?? 0,
        requestIdentifier: try arguments.required("request"),
        storefrontCountryCodes: storefronts.isEmpty ? nil : storefronts, productId: arguments.positionals[0])
      return try await access.change(
        .extendAll(request), of: .subscriptions(arguments.positionals[0]),
        "begun; extend-status tells how far it is", arguments, terminal)
    }
  }

  static let extendStatus = Command(
    "extend-status", "Tell how far extend-all is.",
    discussion: "When Apple says that it is complete, the running subscriptions that are known here are looked up.",
    examples: [
      Command.Example(
        "switchyard api extend-status com.example.pro outage-may --environment Production --app com.example.app")
    ],
    arguments: [
      Positional("PRODUCT_ID", "The subscription's product id."),
      Positional("REQUEST", "The request's name, as extend-all was given it."),
    ]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal) { access in
      let reply = try await access.client.send(
        .extensionStatus(of: arguments.positionals[0], requestIdentifier: arguments.positionals[1]),
        as: access.credentials, in: try access.environment(arguments))
      let isComplete = reply.answer.complete == true
      let status = try access.show(reply, isComplete ? "complete" : "not yet complete", terminal)
      if isComplete {
        await access.catchUp(in: reply.environment, terminal)?.run(
          product: arguments.positionals[0], completedAt: reply.answer.completeDate ?? reply.receivedAt)
      }
      return status
    }
  }

  static let consumption = Command(
    "consumption", "Tell Apple how a purchase was used whose refund is asked for.",
    discussion: "Only with the customer's consent, which --consented says; Apple wants it within 12 hours.",
    examples: [
      Command.Example(
        "switchyard api consumption 2000000123456789 --consented --delivery DELIVERED --environment Production --app com.example.app"
      )
    ],
    options: [
      .flag("consented", "The customer consented that this is sent."),
      .value(
        "delivery", "STATUS",
        choices: [
          "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
          "UNDELIVERED_OTHER",
        ], "Whether it works."),
      .value("consumed", "NUMBER", "How much was used, in thousandths of a per cent: 50000 is half."),
      .value(
        "v1-file", "FILE",
        "The deprecated call instead, for consumables alone: Apple's ConsumptionRequestV1 as JSON."),
      .value(
        "refund", "PREFERENCE", choices: ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"], "What you would do."),
      .flag("sample", "The customer could try it before."), Command.dryRun,
    ], arguments: [APILists.transactionID]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal) { access in
      guard arguments.flag("consented") else {
        throw UsageError(
          .missingOption, "Nothing may be sent without the customer's consent: say --consented.", path: arguments.path)
      }
      if let file = arguments.value("v1-file") {
        let request = try requestV1(file, arguments)
        return try await access.change(
          .consumptionV1(request, of: arguments.positionals[0]),
          of: .consumption(request.json, of: arguments.positionals[0]), "Apple has it", arguments, terminal)
      }
      let request = ConsumptionRequest(
        customerConsented: true,
        consumptionPercentage: try arguments.integer("consumed", in: 0...100_000).map(Int64.init),
        deliveryStatus: try arguments.required("delivery"), refundPreference: arguments.value("refund"),
        sampleContentProvided: arguments.flag("sample"))
      return try await access.change(
        .consumption(request, of: arguments.positionals[0]),
        of: .consumption(request.json, of: arguments.positionals[0]), "Apple has it", arguments, terminal)
    }
  }

  private static let fileLimit = 64 << 10

  private static func requestV1(_ file: String, _ arguments: ParsedArguments) throws -> ConsumptionRequestV1 {
    guard let object = try? JSONReader.read(Input.read(file, limit: fileLimit)).object else {
      throw UsageError(.invalidValue, "\(file) holds no JSON object.", path: arguments.path)
    }
    let request = ConsumptionRequestV1(object)
    guard request.problems.isEmpty else {
      throw UsageError(
        .invalidValue, "Apple would not take it: \(request.problems.joined(separator: "; ")).", path: arguments.path)
    }
    return request
  }

  static let accountToken = Command(
    "account-token", "Set the account token of a purchase.",
    examples: [
      Command.Example(
        "switchyard api account-token 2000000123456789 7e3fb20b-4cdb-47cc-936d-99d65f608138 --environment Production --app com.example.app"
      )
    ],
    options: [Command.dryRun],
    arguments: [originalID, Positional("UUID", "The customer's account with you.")]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal) { access in
      try await access.change(
        .setAppAccountToken(arguments.positionals[1], of: arguments.positionals[0]),
        of: .purchase(arguments.positionals[0]), "set", arguments, terminal)
    }
  }

  static let finish = Command(
    "finish", "Finish a purchase: the customer has got what they bought.",
    examples: [
      Command.Example("switchyard api finish 2000000123456789 --environment Production --app com.example.app")
    ],
    options: [Command.dryRun], arguments: [APILists.transactionID]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal) { access in
      try await access.change(
        .finish(arguments.positionals[0]), of: .purchase(arguments.positionals[0]), "finished", arguments, terminal)
    }
  }
}
