import Adapter
import JSON
import Purchases
import Receipts
import Runtime
import Signing
import Time

/// `switchyard convert`: one input in the canonical model.
///
/// Names, codes and exit statuses are stable.
struct ConvertCommand {
  static let command = Command(
    "convert", "Convert anything Apple sends, of either generation, into one form.",
    discussion: """
      FILE holds one input, recognized by its content: a V2 notification or a bare JWS of any kind, a response of the \
      App Store Server API, a receipt (base64, bytes, iOS 6), a V1 notification, a verifyReceipt response; - is stdin. \
      No network and no database is asked. Each element says who said it (provenance) and by which rows of \
      "switchyard mappings show" (rules). Exit status: 0 converted, 1 refused.
      """,
    examples: [
      Command.Example("switchyard convert notification.json", "a table for people"),
      Command.Example("switchyard convert --json receipt.b64", "for programs"),
      Command.Example("switchyard convert --json --root simulator.der - < body.json", "other roots than Apple's"),
      Command.Example("switchyard convert --json --allow-unsigned --app com.example.app renewal.json"),
    ],
    options: [
      .value("to", "FORM", choices: ["canonical"], ""),
      JSONOutput.option,
      .value("root", "FILE", repeats: true, "Trust exactly these roots instead of Apple's (DER or PEM)."),
      .flag("allow-unsigned", "Take unverified data too: decoded payloads, Xcode's data, unproven receipts."),
      .value("app", "APP", "The bundle id, where the input names none; an input of another app is refused."),
      .value(
        "environment", "NAME", choices: Environment.allCases.map(\.rawValue),
        "The environment, where the input names none; an input of another one is refused."),
    ],
    arguments: [Positional("FILE", "The input, or - for stdin.")]
  ) { arguments, terminal in
    try ConvertCommand(arguments).run(arguments.positionals[0], terminal)
  }

  /// The size of a response with a long history, with certificates in each transaction.
  private static let inputLimit = 32 << 20

  private let conversion: Conversion
  private let wantsJSON: Bool

  private init(_ arguments: ParsedArguments) throws {
    var roots: [RootCertificate] = []
    for file in arguments.values("root") { roots += try TrustOptions.read(file) }
    let receipts = ReceiptReader(trust: roots.isEmpty ? .apple : ReceiptTrust(exactly: roots))
    conversion = Conversion(
      verifier: SignedDataVerifier(roots: roots.isEmpty ? .apple : TrustedRoots(exactly: roots)),
      receipts: receipts, app: arguments.value("app"), environment: try arguments.choice("environment"),
      allowsUnsigned: arguments.flag("allow-unsigned"))
    wantsJSON = arguments.wantsJSON
  }

  private func run(_ file: String, _ terminal: Terminal) throws -> ExitStatus {
    let bytes = try Input.read(file, limit: Self.inputLimit)
    let converted: ConversionResult
    do throws(ConversionError) {
      converted = try conversion.read(bytes, now: WallClock.system.now())
    } catch {
      try print(error, terminal)
      return .failed
    }
    if wantsJSON {
      try terminal.write(CanonicalDocument(converted).json)
    } else {
      try terminal.write(ConvertedText(converted).text(for: terminal))
    }
    return .done
  }

  private func print(_ refusal: ConversionError, _ terminal: Terminal) throws {
    guard wantsJSON else {
      try terminal.write("REFUSED \(refusal.code): \(refusal.detail.plain)\n  \(refusal.next)\n")
      return
    }
    let error: JSONObject = [
      "code": .string(refusal.code), "detail": .string(refusal.detail), "nextStep": .string(refusal.next),
    ]
    try terminal.write(["error": .object(error)] as JSONObject)
  }
}
