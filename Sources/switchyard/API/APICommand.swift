import AppStore
import JSON
import Runtime
import Time

enum APICommand {
  static let command = Command(
    "api", "Ask the App Store Server API, or verifyReceipt.",
    discussion: """
      Each command is one of Apple's endpoints, and names are Apple's: "switchyard mappings show endpoints" lists them. --json \
      prints Apple's answer, a line for each page, in which each signed text is replaced by its content once its \
      signature is verified. Calls are made again where that is safe, and within Apple's documented limits. A registered app is asked about \
      with the key that is sealed in the ledger, and within the budget that all processes share; with --key-file any app is. \
      Without --environment Production is asked, then the sandbox. After a change the ledger queues the id: `switchyard serve` looks it up. Exit status 7: Apple or the rate limit says later.
      """,
    whenStopped: """
      The change may have reached Apple: look it up. Continue a list with revision=TEXT, as its last line names \
      it.
      """,
    examples: [
      Command.Example("switchyard api check --app com.example.app", "does Apple accept the key?"),
      Command.Example("switchyard api history 2000000123456789 --app com.example.app", "every purchase of a customer"),
      Command.Example("switchyard api order MK5TTTVWJH --app com.example.app", "by the id on the customer's invoice"),
    ],
    options: APIAccess.options, subcommands: [check, APIVerifyReceipt.command] + APIWord.commands)

  private static let check = Command(
    "check", "Check whether Apple accepts key, issuer and bundle id, and show why not.",
    examples: [
      Command.Example("switchyard api check --app com.example.app", "with the key that is sealed in the ledger"),
      Command.Example("switchyard api check --app com.example.app --key-file AuthKey.p8 --key-id KEY --issuer ISSUER"),
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

  /// The local clock minus Apple's, in seconds.
  private static func skew(_ diagnosis: AccessDiagnosis) -> Int64? { diagnosis.skew.map { $0.milliseconds / 1_000 } }
}
