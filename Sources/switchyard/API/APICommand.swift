import AppStore
import JSON
import Mappings
import Runtime
import Time
import Wire

/// `switchyard api`: what Apple can be asked, by hand.
enum APICommand {
  static let command = Command(
    "api", "Ask the App Store Server API, or verifyReceipt.",
    discussion: """
      What Apple signed is verified before it is shown. Calls are made again where that is safe, and within Apple's \
      documented limits. Where the ledger knows an id, it is asked about there. history, status, transaction, order, \
      refunds and app-transaction find the registered app that the id is of when none is named: in the ledger, else by \
      asking about each. With --app, the ledger takes in at once what extend, extend-all, account-token, finish and \
      consumption changed; a line on stderr says what was stored, or queued for the service. Exit status 7: Apple or our \
      budget says later.
      """,
    whenStopped: """
      What Apple was being asked to change may have been changed: look it up. A list goes on with --revision, where the \
      last line names one.
      """,
    examples: [
      Command.Example("switchyard api check --app com.example.app", "does Apple let us in?"),
      Command.Example("switchyard api history 2000000123456789 --app com.example.app", "every purchase of a customer"),
      Command.Example("switchyard api order MK5TTTVWJH --app com.example.app", "by the id on the customer's invoice"),
    ],
    options: APIAccess.options,
    subcommands: [
      check, APILists.history, APILookUps.status, APILookUps.transaction, APILookUps.order, APILists.refunds,
      APILookUps.appTransaction, APIChanges.extend, APIChanges.extendAll, APIChanges.extendStatus,
      APIChanges.consumption, APIChanges.accountToken, APIChanges.finish, APINotifications.test,
      APIVerifyReceipt.command,
      APILists.notifications, APIMessages.command,
    ])

  private static let check = Command(
    "check", "Tell whether Apple accepts key, issuer and bundle id, and if not, why.",
    examples: [
      Command.Example("switchyard api check --app com.example.app", "with the key that is sealed in the ledger"),
      Command.Example(
        "switchyard api check --bundle com.example.app --issuer ISSUER --key-id KEY --key-file AuthKey.p8"),
    ],
    arguments: [
      Positional("TRANSACTION_ID", count: .optional, "One that is the app's: it alone proves the bundle id.")
    ]
  ) { arguments, terminal in
    try await APIAccess.with(arguments, terminal) { access in
      let diagnoses = await access.client.check(access.credentials, transactionID: arguments.positionals.first)
      let asked = diagnoses.filter { access.environment == nil || access.environment == $0.environment }
      if access.wantsJSON {
        for diagnosis in asked {
          try terminal.write([
            "environment": .string(diagnosis.environment.rawValue), "verdict": .string(diagnosis.verdict.rawValue),
            "explanation": .string(diagnosis.explanation), "clockSkewSeconds": JSONValue(skew(diagnosis)),
          ])
        }
      } else {
        var table = TextTable([.init("ENVIRONMENT"), .init("VERDICT"), .init("CLOCK", .right), .init("WHAT IT MEANS")])
        for diagnosis in asked {
          table.add([
            diagnosis.environment.rawValue, diagnosis.verdict.rawValue,
            skew(diagnosis).map { "\($0 >= 0 ? "+" : "")\($0) s" } ?? "-", diagnosis.explanation,
          ])
        }
        try terminal.write(table.render(.plain))
      }
      return asked.contains(where: \.acceptsKey) ? .done : .failed
    }
  }

  /// Our clock less Apple's, in seconds.
  private static func skew(_ diagnosis: AccessDiagnosis) -> Int64? { diagnosis.skew.map { $0.milliseconds / 1_000 } }
}

extension Command {
  /// `--dry-run` of a command that changes something at Apple's.
  static let dryRun = Option.flag("dry-run", "Print the call that would be made and make none.")
}

extension APIAccess {
  /// Makes a call that changes something, or prints it; what Apple answers is printed as JSON or in a sentence.
  ///
  /// - Parameters:
  ///   - changed: what the ledger has to take in afterwards.
  ///   - refusal: why it was not done, for an answer that says so itself.
  func change<Answer>(
    _ call: Call<Answer>, of changed: Changed = .nothing, _ done: String, _ arguments: ParsedArguments,
    _ terminal: Terminal, refusal: (Answer) -> String? = { _ in nil }
  ) async throws -> ExitStatus {
    let environment = try environment(arguments)
    if arguments.flag(Command.dryRun.name) {
      let line = "\(call.endpoint.row.method) \(try call.target())"
      switch call.body {
      case .none: try terminal.write("\(line)\n")
      case .json(let object): try terminal.write(Array("\(line)\n".utf8) + object.encoded() + Array("\n".utf8))
      case .png(let bytes): try terminal.write("\(line)\n(\(bytes.count) bytes of PNG)\n")
      }
      terminal.note("dry run in \(environment.rawValue): nothing was sent")
      return .done
    }
    let catchUp = catchUp(in: environment, terminal)
    let reply: Reply<Answer>
    do throws(CallFailure) {
      reply = try await client.send(call, as: credentials, in: environment)
    } catch {
      if error.isOutcomeUnknown, case .purchase(let id) = changed { await catchUp?.queueUnknown(id) }
      throw error
    }
    if let refusal = refusal(reply.answer) {
      _ = try show(reply, "not done", terminal)
      terminal.note("switchyard: \(refusal)")
      return .failed
    }
    let status = try show(reply, done, terminal)
    switch changed {
    case .nothing: return status
    case .purchase(let id): await catchUp?.run(id)
    case .consumption(let answer, let id):
      await catchUp?.noteAnswered(answer, about: id)
      await catchUp?.run(id)
    case .subscriptions(let product): await catchUp?.run(product: product, completedAt: nil)
    }
    if catchUp == nil {
      terminal.note("ledger: none was named (--app), so that nothing is stored there")
    }
    return status
  }

  /// What a call changes at Apple's.
  enum Changed {
    case nothing
    case purchase(String)
    case consumption(JSONObject, of: String)
    /// Every subscription to a product.
    case subscriptions(String)
  }

  /// Prints an answer: its object as JSON, or a line for each member.
  func show<Answer>(_ reply: Reply<Answer>, _ done: String, _ terminal: Terminal) throws -> ExitStatus {
    if wantsJSON {
      try terminal.write(reply.json ?? [:])
    } else {
      try terminal.write("\(done)\n")
      for member in reply.json ?? [:] {
        try terminal.write("  \(MemberText.line(member))\n")
      }
    }
    return .done
  }
}
