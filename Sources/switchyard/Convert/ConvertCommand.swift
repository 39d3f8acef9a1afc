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
      verifyReceipt that can be composed from the receipt alone, as of now. Exit status: 0 converted, 1 refused.
      """,
    examples: [
      Command.Example("switchyard convert notification.json", "a table for people"),
      Command.Example("switchyard convert --to canonical --json receipt.b64", "for programs"),
      Command.Example("switchyard convert --to verifyReceipt receipt.b64", "what verifyReceipt would say of it"),
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
    ],
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
  private let receipts: ReceiptReader
  private let app: String?
  private let allowsUnsigned: Bool
  private let form: Form
  private let environment: Environment?
  private let wantsJSON: Bool

  private init(_ arguments: ParsedArguments) throws {
    var roots: [RootCertificate] = []
    for file in arguments.values("root") { roots += try TrustOptions.read(file) }
    receipts = ReceiptReader(trust: roots.isEmpty ? .apple : ReceiptTrust(exactly: roots))
    app = arguments.value("app")
    allowsUnsigned = arguments.flag("allow-unsigned")
    form = try arguments.choice("to") ?? .canonical
    conversion = Conversion(
      verifier: SignedDataVerifier(roots: roots.isEmpty ? .apple : TrustedRoots(exactly: roots)),
      receipts: receipts, app: app, environment: try arguments.choice("environment"),
      allowsUnsigned: allowsUnsigned)
    environment = try arguments.choice("environment")
    wantsJSON = arguments.wantsJSON
  }

  private func run(_ file: String, _ terminal: Terminal) throws -> ExitStatus {
    let bytes = try Input.read(file, limit: Self.inputLimit)
    if form == .verifyReceipt { return try answer(bytes, terminal) }
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

  /// Prints what verifyReceipt would answer to a receipt of which nothing else is known; always JSON.
  private func answer(_ bytes: [UInt8], _ terminal: Terminal) throws -> ExitStatus {
    let reading = receipts.read(bytes, expecting: app)
    let isBelieved = reading.refusal == nil || (allowsUnsigned && reading.refusal?.code != .wrongBundle)
    guard let receipt = reading.receipt, isBelieved else {
      let refusal = reading.refusal ?? ReceiptRefusal(.notAReceipt, "no receipt")
      try terminal.write("REFUSED \(refusal.code.rawValue): \(refusal.detail.plain)\n")
      return .failed
    }
    let request = AnswerRequest(
      receipt: receipt, receiptData: String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self),
      environment: receipt.environment ?? environment ?? .sandbox, date: WallClock.system.now())
    let composer = AnswerComposer(try ComposingRules(choosing: []))
    try terminal.write(String(decoding: composer.answer(request, CustomerFacts()), as: UTF8.self) + "\n")
    return .done
  }

  private func print(_ refusal: ConversionRefusal, _ terminal: Terminal) throws {
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
