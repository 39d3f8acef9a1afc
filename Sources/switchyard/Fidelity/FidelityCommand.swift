import Database
import JSON
import LegacyAnswers
import Receipts
import Runtime
import Time
import Wire

/// `switchyard fidelity`: the share of Apple's response that Switchyard's own response reproduces.
///
/// Keys and exit statuses are stable.
struct FidelityCommand {
  static let command = Command(
    "fidelity", "Compare Apple's verifyReceipt response with Switchyard's.",
    discussion: """
      RECEIPT is a posted receipt and ANSWER is Apple's response to it. The V2 data that the answer implies is derived from \
      it, and an answer is composed from the receipt and that data, by the rules of the answer's date. Every field is \
      counted once: exact (from the receipt or the request), derived (from V2 data), echoed (latest_receipt, which only \
      Apple can sign anew), unavailable (not in V2's signed data) or different. Give two folders to compare every \
      receipt in the first with its answer in the second; they are matched by their content. Signatures are not \
      checked. Exit status: 0 no difference, 5 differences, 1 a file cannot be compared.
      """,
    whenStopped: "The other pairs were not compared.",
    examples: [
      Command.Example("switchyard fidelity receipt.b64 answer.json"),
      Command.Example("switchyard fidelity --json receipt.b64 answer.json", "for programs"),
      Command.Example("switchyard fidelity receipts/ answers/", "every pair of two folders"),
      Command.Example("switchyard fidelity --reading Y-011 receipt.b64 answer.json", "with another reading of a rule"),
    ],
    options: [
      JSONOutput.option,
      .value(
        "reading", "ID", repeats: true,
        "A row of \"switchyard mappings show answer-rules\" to use instead of its rule's default."),
      .value(
        "at", "MS",
        "The time of the request in milliseconds since 1970, for answers to iOS 6 receipts, which state none."),
    ],
    arguments: [
      Positional("RECEIPT", "The receipt, or a folder of receipts."),
      Positional("ANSWER", "Apple's answer, or a folder of answers."),
    ]
  ) { arguments, terminal in
    try FidelityCommand(arguments).run(arguments.positionals[0], arguments.positionals[1], terminal)
  }

  private static let inputLimit = 32 << 20

  private let fidelity: Fidelity
  private let date: Timestamp?
  private let wantsJSON: Bool

  private init(_ arguments: ParsedArguments) throws {
    do throws(ComposerRules.ChoiceError) {
      fidelity = Fidelity(ResponseComposer(try ComposerRules(choosing: arguments.values("reading"))))
    } catch {
      switch error {
      case .unknownRow(let id):
        throw Self.usage("No row of answer-rules has the id \(id). Run `switchyard mappings show answer-rules`.")
      case .twoReadings(let one, let other):
        throw Self.usage("\(one) and \(other) are readings of the same rule. Choose one of them.")
      }
    }
    date = try arguments.integer("at", in: 0...253_402_300_799_999).map { Timestamp(Int64($0)) }
    wantsJSON = arguments.wantsJSON
  }

  private func run(_ receipt: String, _ answer: String, _ terminal: Terminal) throws -> ExitStatus {
    let isFolder = !Files.names(in: receipt).isEmpty || !Files.names(in: answer).isEmpty
    guard isFolder else {
      let pair = FidelityPair(try self.receipt(receipt), try self.answer(answer))
      return try compare(pair, terminal, isOnly: true)
    }
    // A folder may contain other files; their number is reported.
    let (receiptFiles, answerFiles) = (try Self.files(in: receipt), try Self.files(in: answer))
    let receipts = receiptFiles.compactMap { try? self.receipt($0) }
    let answers = answerFiles.compactMap { try? self.answer($0) }
    let pairs = FidelityPair.matched(receipts, answers)
    if receipts.count < receiptFiles.count {
      let others = receiptFiles.count - receipts.count
      terminal.note("\(others) of \(receiptFiles.count) files in \(receipt) are not receipts")
    }
    if pairs.count < answerFiles.count {
      terminal.note(
        "\(answerFiles.count - pairs.count) of \(answerFiles.count) files in \(answer) are not compared: "
          + "not a verifyReceipt response, or without a matching receipt")
    }
    guard !pairs.isEmpty else {
      terminal.note("No answer in \(answer) belongs to a receipt in \(receipt).")
      return .failed
    }
    var (compared, differing, failed) = (0, 0, 0)
    for pair in pairs where !Task.isCancelled {
      switch try compare(pair, terminal, isOnly: false) {
      case .done: compared += 1
      case .differences: (compared, differing) = (compared + 1, differing + 1)
      default: failed += 1
      }
    }
    terminal.note("\(compared) of \(pairs.count) pairs compared, \(differing) with differences")
    return differing > 0 ? .differences : failed > 0 ? .failed : .done
  }

  private func compare(_ pair: FidelityPair, _ terminal: Terminal, isOnly: Bool) throws -> ExitStatus {
    let report: FidelityReport
    do throws(Fidelity.Unusable) {
      report = try fidelity.report(
        receipt: pair.receipt.receipt, receiptData: pair.receipt.data, answer: pair.answer.json, date: date)
    } catch {
      terminal.note("\(pair.answer.path): \(Self.reason(error))")
      return .failed
    }
    if wantsJSON {
      var object = report.json
      if !isOnly {
        object["receipt"] = .string(pair.receipt.path)
        object["answer"] = .string(pair.answer.path)
      }
      try terminal.write(object)
    } else {
      try terminal.write(FidelityText(pair, report).text(for: terminal))
    }
    return report.different.isEmpty ? .done : .differences
  }

  private static func reason(_ error: Fidelity.Unusable) -> String {
    switch error {
    case .statusAlone(let status): "Status \(status) comes without a receipt, so there is nothing to compare."
    case .notAnAnswer: "This is not a verifyReceipt response: it has no status."
    case .otherGeneration: "The answer is about a receipt of the other generation (iOS 6 or later). Match the files."
    }
  }

  // MARK: Files

  private static func usage(_ detail: String) -> UsageError {
    UsageError(.invalidValue, detail, path: ["switchyard", "fidelity"])
  }

  private func receipt(_ path: String) throws -> FidelityPair.PostedReceipt {
    let bytes = try Input.read(path, limit: Self.inputLimit)
    let reading = ReceiptReader().read(bytes)
    guard let receipt = reading.receipt else {
      throw FidelityFileError(path: path, what: "is not a receipt: \(reading.refusal?.detail ?? "unreadable")")
    }
    return FidelityPair.PostedReceipt(
      path: path, receipt: receipt, data: String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self))
  }

  private func answer(_ path: String) throws -> FidelityPair.Answer {
    var limits = JSONLimits.standard
    limits.bytes = Self.inputLimit
    let bytes = try Input.read(path, limit: Self.inputLimit)
    guard let object = (try? JSONReader.read(bytes, limits: limits))?.object, object["status"] != nil else {
      throw FidelityFileError(path: path, what: "is not a verifyReceipt response: no JSON object with a status")
    }
    return FidelityPair.Answer(path: path, json: object)
  }

  private static func files(in path: String) throws -> [String] {
    let names = Files.names(in: path)
    guard !names.isEmpty else {
      throw usage("\(path) is not a folder with files in it. Give two files or two folders.")
    }
    return names.sorted().map { "\(path.hasSuffix("/") ? String(path.dropLast()) : path)/\($0)" }
  }
}

private struct FidelityFileError: ExitStatusError, CustomStringConvertible {
  let path: String
  let what: String
  var exitStatus: ExitStatus { .failed }
  var description: String { "\(path) \(what)" }
}
