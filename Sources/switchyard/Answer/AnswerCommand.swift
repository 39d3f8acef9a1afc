import Answering
import Database
import JSON
import Ledger
import LegacyAnswers
import Mappings
import Operations
import Purchases
import Receipts
import Rollout
import Runtime
import Time

/// `switchyard answer`: the response that `serve` would compose for a receipt now, and its sources.
///
/// Keys and exit statuses are stable.
struct AnswerCommand {
  static let command = Command(
    "answer", "Compose the verifyReceipt response to a receipt from the ledger.",
    discussion: """
      RECEIPT holds one receipt as bytes or in base64, also damaged in the usual ways; - is stdin. Apple is never \
      asked. Without --explain the answer is printed as a client would get it. Next to it is `fresh`, or the \
      reasons why it may be out of date. --explain adds the row of Mappings and the origin of each field. \
      Exit status: 0 for an answer that the ledger would give without Apple, 3 for one that may be out of date, 1 when the \
      receipt cannot be used.
      """,
    examples: [
      Command.Example("switchyard answer receipt.b64", "what would a client get now?"),
      Command.Example("switchyard answer --explain receipt.b64", "and where does each field come from?"),
      Command.Example("switchyard answer --json receipt.b64", "the answer, its source and the reasons, for programs"),
      Command.Example(
        "switchyard answer --app com.example.app --environment Production old.b64",
        "an iOS 6 receipt signs no environment"),
    ],
    options: [
      .value("app", "APP", "Refuse a receipt of another app."), EnvironmentOption.option,
      .flag("exclude-old-transactions", "Answer as to a request with exclude-old-transactions."),
      .flag("explain", "Show what made each field: the row of Mappings and the origin of its value."),
      .value(
        "signer", "SHA256", repeats: true,
        "Trust this signer of iOS 6 receipts of version 2 too, by its certificate's fingerprint."),
      JSONOutput.option,
    ] + TrustOptions.options + DatabaseOptions.options,
    arguments: [Positional("RECEIPT", "The receipt, or - for stdin.")]
  ) { arguments, terminal in
    try await AnswerCommand(arguments).run(arguments.positionals[0], terminal)
  }

  private static let inputLimit = 32 << 20

  private let arguments: ParsedArguments
  private let reader: ReceiptReader
  private let asked: Environment?

  private init(_ arguments: ParsedArguments) throws {
    self.arguments = arguments
    let trust = try TrustOptions(arguments).receipts
    reader = ReceiptReader(trust: try ReceiptTrustOptions.adding(signersOf: arguments, to: trust))
    asked = try EnvironmentOption.environment(arguments)
  }

  private func run(_ file: String, _ terminal: Terminal) async throws -> ExitStatus {
    let bytes = try Input.read(file, limit: Self.inputLimit)
    guard case .verified(let verified) = reader.read(bytes, expecting: arguments.value("app")) else {
      let refusal = reader.read(bytes, expecting: arguments.value("app")).refusal
      throw UnusableReceipt("The receipt is refused: \(refusal.map { "\($0)" } ?? "unreadable").")
    }
    let receipt = verified.receipt
    let now = WallClock.system.now()
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      guard let bundleID = receipt.bundleID else { throw UnusableReceipt("The receipt names no app.") }
      let record = try await AppRecord.find(bundleID, connection)
      let app = record.app
      let environment = try await environment(of: receipt, app, connection)
      let request = ComposerRequest(
        receipt: receipt, receiptData: ReceiptReader.base64(of: bytes) ?? "", environment: environment, date: now,
        excludesOldTransactions: arguments.flag("exclude-old-transactions"))
      let preview = try await connection.read { session throws(DatabaseError) in
        try ResponsePreview(request, of: app, in: session)
      }
      let composer = ResponseComposer(try ComposerRules(choosing: record.answerReadings))
      let stage = try await connection.read { session throws(DatabaseError) in
        try StageTable.all(in: session)[AppScope(app: app.id, environment: environment)]?.stage
      }
      return try show(preview, preview.explained(by: composer), stage ?? .record, terminal)
    }
  }

  /// Returns the signed environment.
  ///
  /// For an iOS 6 receipt it is the named one, otherwise the one in which signed data exists.
  private func environment(of receipt: Receipt, _ app: App, _ connection: Connection) async throws -> Environment {
    if let signed = receipt.environment {
      guard let asked, asked != signed else { return signed }
      throw UnusableReceipt(
        "The receipt is of \(signed.rawValue): \(asked.rawValue) answers it with \(asked == .production ? 21_007 : 21_008)."
      )
    }
    if let asked { return asked }
    guard let id = receipt.originalTransactionIDs.first else { throw UnusableReceipt("The receipt has no usable id.") }
    let known = try await connection.read { session throws(DatabaseError) in
      try LedgerStore.environments(naming: id, app: app, in: session)
    }
    guard known.count == 1, let environment = known.first else {
      throw UnusableReceipt("An iOS 6 receipt signs no environment: say --environment Production or Sandbox.")
    }
    return environment
  }

  private func show(
    _ preview: ResponsePreview, _ explained: ResponseComposer.Explained, _ stage: Stage, _ terminal: Terminal
  ) throws -> ExitStatus {
    if arguments.wantsJSON {
      try terminal.write(try document(preview, explained, stage))
    } else if arguments.flag("explain") {
      try terminal.write(try AnswerText(explained).text(for: terminal))
    } else {
      try terminal.write(SafeText.escaped(lines: explained.bytes) + [UInt8(ascii: "\n")])
    }
    if !arguments.wantsJSON {
      if let note = Self.note(of: stage) { terminal.note(note) }
      terminal.note(
        preview.reasons.isEmpty ? "fresh: `serve` gives this answer from the ledger" : notFresh(preview, stage))
      for reason in preview.reasons { terminal.note("  \(reason.name): \(reason.text)") }
      if preview.isForgotten {
        terminal.note("  unknownToApple: Apple knows no ID of this receipt. The answer contains only the receipt.")
      }
    }
    return preview.reasons.isEmpty ? .done : .doneWithRejects
  }

  /// Names the side that responds in the stage, unless Switchyard responds to every customer.
  private static func note(of stage: Stage) -> String? {
    switch stage.answers {
    case .apple: "stage \(stage.rawValue): Apple answers now. This is what Switchyard would answer in live."
    case .divided:
      "stage \(stage.rawValue): Customers in the percentage get this answer. Apple answers all others."
    case .ledger: nil
    }
  }

  private func notFresh(_ preview: ResponsePreview, _ stage: Stage) -> String {
    let asked =
      stage == .complete ? "Apple's history is looked up" : "Apple's verifyReceipt is asked, then Apple's history"
    return preview.source == nil
      ? "not fresh: \(asked), and while neither answers the status is 21005, since news may be missing"
      : "not fresh: \(asked), and while neither answers this answer is given, since news may be missing"
  }

  private func document(
    _ preview: ResponsePreview, _ explained: ResponseComposer.Explained, _ stage: Stage
  ) throws -> JSONObject {
    var limits = JSONLimits.standard
    limits.bytes = explained.bytes.count
    var document: JSONObject = [
      "stage": .string(stage.rawValue), "fresh": .bool(preview.reasons.isEmpty),
      "answeredBy": JSONValue(preview.source?.rawValue), "unknownToApple": .bool(preview.isForgotten),
      "reasons": .array(
        preview.reasons.map { reason in
          .object(["code": .string(reason.name), "id": JSONValue(reason.id), "detail": .string(reason.text)])
        }), "answer": try JSONReader.read(explained.bytes, limits: limits),
    ]
    if arguments.flag("explain") {
      document["fields"] = .array(
        explained.fields.map { field in
          .object([
            "path": .string(field.path), "rule": .string(field.rule), "origin": .string(String(field.origin.rawValue)),
          ])
        })
    }
    return document
  }
}

struct UnusableReceipt: ExitStatusError, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  var exitStatus: ExitStatus { .failed }
}
