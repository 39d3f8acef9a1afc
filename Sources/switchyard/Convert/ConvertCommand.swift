import Adapter
import JSON
import LegacyAnswers
import Purchases
import Receipts
import Runtime
import Signing
import Time

/// `switchyard convert`: what one input says, in the canonical model.
///
/// Others script on it: names, codes and exit statuses are promised.
struct ConvertCommand {
  static let command = Command(
    "convert", "Convert anything Apple sends, of either generation, into one form.",
    discussion: """
      FILE holds one input, told by its content: a V2 notification or a bare JWS of any kind, an answer of the App \
      Store Server API, a receipt (base64, bytes, iOS 6), a V1 notification, an answer of verifyReceipt; - is stdin. \
      No network and no database is asked. Each element says who said it (provenance) and by which rows of \
      "switchyard mappings show" (rules). With --to verifyReceipt the input is a receipt, and the output is the answer of \
      verifyReceipt that can be composed from it and from what --facts names: signed transactions and renewals, one JWS a \
      line, answers of the App Store Server API (history, statuses), notifications, and earlier answers of verifyReceipt, \
      all of them of the receipt's customer. Without --facts it is what the receipt alone allows. Exit status: 0 \
      converted, 1 refused.
      """,
    examples: [
      Command.Example("switchyard convert notification.json", "a table for people"),
      Command.Example("switchyard convert --to canonical --json receipt.b64", "for programs"),
      Command.Example("switchyard convert --to verifyReceipt receipt.b64", "what verifyReceipt would say of it"),
      Command.Example(
        "switchyard convert --to verifyReceipt receipt.b64 --facts history.json --facts statuses.json",
        "with what Apple's API answered"),
      Command.Example(
        "switchyard convert --to verifyReceipt receipt.b64 --facts transactions.jws --exclude-old-transactions"),
      Command.Example("switchyard convert --json --root simulator.der - < body.json", "other roots than Apple's"),
      Command.Example("switchyard convert --json --allow-unsigned --app com.example.app renewal.json"),
    ],
    options: [
      .value("to", "FORM", choices: Form.allCases.map(\.rawValue), default: Form.canonical.rawValue, "The form."),
      JSONOutput.option,
      .value("root", "FILE", repeats: true, "Trust exactly these roots instead of Apple's (DER or PEM)."),
      .flag("allow-unsigned", "Take what nobody vouches for too: decoded payloads, Xcode's data, unproven receipts."),
      .value("app", "ID", "The bundle id, where the input names none; an input of another app is refused."),
      .value(
        "environment", "NAME", choices: Environment.allCases.map(\.rawValue),
        "The environment, where the input names none; an input of another one is refused."),
    ] + ConvertedAnswer.options,
    arguments: [Positional("FILE", "The input, or - for stdin.")]
  ) { arguments, terminal in
    try ConvertCommand(arguments).run(arguments.positionals[0], terminal)
  }

  private enum Form: String, CaseIterable {
    case canonical, verifyReceipt
  }

  /// An answer with a long history, each of its transactions with its certificates.
  private static let inputLimit = 32 << 20

  private let conversion: Conversion
  private let form: Form
  private let answer: ConvertedAnswer
  private let wantsJSON: Bool

  private init(_ arguments: ParsedArguments) throws {
    var roots: [RootCertificate] = []
    for file in arguments.values("root") { roots += try TrustOptions.read(file) }
    let receipts = ReceiptReader(trust: roots.isEmpty ? .apple : ReceiptTrust(exactly: roots))
    form = try arguments.choice("to") ?? .canonical
    conversion = Conversion(
      verifier: SignedDataVerifier(roots: roots.isEmpty ? .apple : TrustedRoots(exactly: roots)),
      receipts: receipts, app: arguments.value("app"), environment: try arguments.choice("environment"),
      allowsUnsigned: arguments.flag("allow-unsigned"))
    answer = try ConvertedAnswer(arguments, receipts, conversion, now: WallClock.system.now())
    guard form == .verifyReceipt || !ConvertedAnswer.isMeant(by: arguments) else {
      throw UsageError(
        .unexpectedValue, "--facts, --exclude-old-transactions, --at and --reading need --to verifyReceipt.",
        path: arguments.path)
    }
    wantsJSON = arguments.wantsJSON
  }

  private func run(_ file: String, _ terminal: Terminal) throws -> ExitStatus {
    let bytes = try Input.read(file, limit: Self.inputLimit)
    if form == .verifyReceipt { return try write(answerTo: bytes, terminal) }
    let converted: Converted
    do throws(ConversionRefusal) {
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

  /// Prints what verifyReceipt would answer to a receipt; always JSON.
  private func write(answerTo bytes: [UInt8], _ terminal: Terminal) throws -> ExitStatus {
    do {
      try terminal.write(String(decoding: answer.body(for: bytes, limit: Self.inputLimit), as: UTF8.self) + "\n")
      return .done
    } catch let refusal as ConvertedFacts.Refusal {
      try print(
        refusal.code, refusal.file.isEmpty ? refusal.detail : "\(refusal.file): \(refusal.detail)", refusal.next,
        terminal)
      return .failed
    }
  }

  private func print(_ refusal: ConversionRefusal, _ terminal: Terminal) throws {
    try print(refusal.code, refusal.detail, refusal.next, terminal)
  }

  private func print(_ code: String, _ detail: String, _ next: String, _ terminal: Terminal) throws {
    guard wantsJSON else {
      try terminal.write("REFUSED \(code): \(detail.plain)\n  \(next)\n")
      return
    }
    let error: JSONObject = ["code": .string(code), "detail": .string(detail), "nextStep": .string(next)]
    try terminal.write(["error": .object(error)] as JSONObject)
  }
}
