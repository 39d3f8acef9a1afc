import Adapter
import JSON
import LegacyAnswers
import Purchases
import Receipts
import Runtime
import Time

/// `switchyard convert --to verifyReceipt`: an answer composed from files alone.
struct ConvertedAnswer {
  static let options: [Option] = [
    .value(
      "facts", "FILE", repeats: true,
      "For --to verifyReceipt: what else is known of the customer; a JWS, or an answer of the API or of verifyReceipt."),
    .flag("exclude-old-transactions", "For --to verifyReceipt: answer as to a request that asks for this."),
    .value("at", "MS", "For --to verifyReceipt: the time of the request in milliseconds since 1970; now without it."),
    .value(
      "reading", "ID", repeats: true, "For --to verifyReceipt: a row of answer-rules instead of its rule's default."),
  ]

  private let receipts: ReceiptReader
  private let conversion: Conversion
  private let app: String?
  private let environment: Environment?
  private let allowsUnsigned: Bool
  private let facts: [String]
  private let excludesOld: Bool
  private let date: Milliseconds
  private let composer: AnswerComposer

  init(
    _ arguments: ParsedArguments, _ receipts: ReceiptReader, _ conversion: Conversion, now: Milliseconds
  ) throws {
    (self.receipts, self.conversion) = (receipts, conversion)
    app = arguments.value("app")
    environment = try arguments.choice("environment")
    allowsUnsigned = arguments.flag("allow-unsigned")
    facts = arguments.values("facts")
    excludesOld = arguments.flag("exclude-old-transactions")
    date = try arguments.integer("at", in: 0...253_402_300_799_999).map { Milliseconds(Int64($0)) } ?? now
    do throws(ComposingRules.ChoiceError) {
      composer = AnswerComposer(try ComposingRules(choosing: arguments.values("reading")))
    } catch {
      let (wrong, path) =
        switch error {
        case .unknownRow(let id): ("No row of answer-rules has the id \(id).", arguments.path)
        case .twoReadings(let one, let other): ("\(one) and \(other) are readings of the same rule.", arguments.path)
        }
      throw UsageError(.invalidValue, wrong + " Run `switchyard mappings show answer-rules`.", path: path)
    }
  }

  /// Whether an option is given that this form alone takes.
  static func isMeant(by arguments: ParsedArguments) -> Bool {
    !arguments.values("facts").isEmpty || !arguments.values("reading").isEmpty || arguments.value("at") != nil
      || arguments.flag("exclude-old-transactions")
  }

  /// The answer's body, or why there is none.
  func body(for bytes: [UInt8], limit: Int) throws -> [UInt8] {
    let reading = receipts.read(bytes, expecting: app)
    let isBelieved = reading.refusal == nil || (allowsUnsigned && reading.refusal?.code != .wrongBundle)
    guard let receipt = reading.receipt, isBelieved else {
      let refusal = reading.refusal ?? ReceiptRefusal(.notAReceipt, "no receipt")
      throw ConvertedFacts.Refusal(
        file: "", code: refusal.code.rawValue, detail: refusal.detail,
        next: "give a receipt; --allow-unsigned takes one that nobody vouches for")
    }
    let place = receipt.environment ?? environment ?? receipt.claimedEnvironment ?? .sandbox
    if let environment, environment != place {
      throw ConvertedFacts.Refusal(
        file: "", code: "wrongEnvironment",
        detail: "it is of \(place.rawValue), --environment says \(environment.rawValue)",
        next: "leave --environment out: the receipt says it")
    }
    var known = ConvertedFacts(conversion, now: date)
    for file in facts {
      try known.add(try Input.read(file, limit: limit), file: file, of: receipt.bundleID ?? app ?? "", in: place)
    }
    let request = AnswerRequest(
      receipt: receipt, receiptData: String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self),
      environment: place, date: date, excludesOldTransactions: excludesOld)
    return composer.answer(request, known.customer)
  }
}
