import Backfill
import JSON
import Receipts
import Runtime
import Time

/// `switchyard extract`: checks millions of stored receipts without a database.
///
/// Options, keys, reasons and exit statuses are stable.
struct ExtractCommand {
  static let command = Command(
    "extract", "Verify receipts in bulk and print their transaction ids.",
    discussion: """
      FILE is a table (columns by their names, as app, user_id and receipt, or guessed), JSON Lines with these keys, a JSON \
      array of such objects or of receipts, one receipt a line, one receipt, or a folder of any of these. gzip and zstd are decompressed; - is stdin. The output \
      has one line for each usable receipt, in the order of the input: line, app, userId and the keys of \
      `receipt inspect`. A receipt that came before is left out. An app that looks like a bundle id has to be the \
      receipt's. The summary goes to stderr.

      A table is CSV as RFC 4180 defines it, separated by commas, semicolons or tabs like its header, with or without \
      a byte order mark. A field in quotes may hold anything, line breaks and delimiters too; a quote in it is written \
      twice. Lines end with LF or CR LF, or with CR where the header does. Every row has as many fields as the header. \
      If a quote is missing or extra, the rows around it cannot be distinguished: all lines from the last certain row to the \
      next are rejected, and the summary names them.

      Exit status: 0 when every receipt is usable, 3 when some are rejected.
      """,
    whenStopped: """
      The rest of the input was not read; start it again. The lines that were written are whole, but if the output was \
      not read in time, the last line may be cut.
      """,
    examples: [
      Command.Example("switchyard extract --rejects rejects.csv receipts.csv.gz > ids.jsonl"),
      Command.Example("switchyard extract --unverified --format csv - < receipts.txt", "fast, without verification"),
      Command.Example("switchyard extract rejects.csv", "the rejected rows again, after correction"),
      Command.Example("switchyard extract --rejects rejects/ receipts/", "a folder; rejects file by file"),
    ],
    options: [
      .flag("unverified", "Accept receipts without verifying their signatures."),
      .value("root", "FILE", repeats: true, "Trust exactly these roots instead of Apple's (DER or PEM)."),
      .value(
        "signer", "SHA256", repeats: true,
        "Trust this signer of iOS 6 receipts of version 2 too, by its certificate's fingerprint."),
      .value(
        "rejects", "FILE",
        """
        Write the rejected rows to this file, unchanged and with the reason, to be corrected and extracted again. For a folder \
        of inputs also a folder (with a slash at its end), which gets a file for each of them.
        """),
      Self.forSpreadsheet,
      .value(
        "format", "FORMAT", choices: OutputFormat.allCases.map(\.rawValue), default: OutputFormat.jsonl.rawValue,
        "How usable receipts are written; ids: only their ids, one a line."),
      .flag("json", "Say the summary and the progress as JSON."),
    ],
    arguments: [Positional("FILE", "The receipts: a file, a folder, or - for stdin.")]
  ) { arguments, terminal in
    try await ExtractCommand(arguments).run(terminal)
  }

  static let forSpreadsheet = Option.flag(
    "for-spreadsheet",
    "Put an apostrophe in front of the cells of rejected rows that a spreadsheet would run as formulas. Such a file is for "
      + "reading, not for another extraction: the apostrophes would count.")

  private let path: String
  private let extraction: Extraction
  private let rejects: RejectFiles?
  private let isUnverified: Bool
  private let quotesFormulas: Bool
  private let wantsJSON: Bool

  private init(_ arguments: ParsedArguments) throws {
    path = arguments.positionals[0]
    isUnverified = arguments.flag("unverified")
    quotesFormulas = arguments.flag("for-spreadsheet")
    wantsJSON = arguments.flag("json")
    if isUnverified, !arguments.values("root").isEmpty || !arguments.values("signer").isEmpty {
      throw UsageError(
        .invalidValue, "--unverified verifies nothing: omit --root and --signer.", path: arguments.path)
    }
    let trust = try ReceiptTrustOptions.trust(arguments)
    var settings = Extraction.Settings()
    settings.isUnverified = isUnverified
    settings.format = try arguments.choice("format") ?? .jsonl
    // Last, since it empties the file.
    rejects = try arguments.value("rejects").map { file in
      if try RejectFiles.isWithin(file, input: arguments.positionals[0]) {
        throw UsageError(.invalidValue, "--rejects would overwrite what is read.", path: arguments.path)
      }
      return try RejectFiles(file, input: arguments.positionals[0])
    }
    settings.keepsRejects = rejects != nil
    settings.separatesRejects = rejects?.isSeparate == true
    settings.quotesFormulas = quotesFormulas
    extraction = Extraction(reader: ReceiptReader(trust: trust), settings: settings)
  }

  private func run(_ terminal: Terminal) async throws -> ExitStatus {
    let stop = CommandShutdown.current
    if wantsJSON { stop?.saysNothing() }
    let progress = ExtractionProgress()
    let input = try InputReader(path, progress: progress, isStopped: { stop?.signal != nil })
    let report = ExtractReport(
      progress: progress, wantsJSON: wantsJSON, isUnverified: isUnverified, quotesFormulas: quotesFormulas,
      terminal: terminal)
    let sinks = Extraction.Sinks(
      output: { bytes in try terminal.write(bytes) },
      rejectsByFile: { [rejects] rows, file in try rejects?.write(rows, of: file) })
    stop?.summarize { report.sayHeldUp(stoppedBy: stop?.signal) }
    do {
      // A stop does not cancel this: the input ends, and the rows read so far are written.
      let accounts = try await withCancellationShield { [extraction] in
        try await report.whileRunning { try await extraction.run(input, to: sinks, progress: progress) }
      }
      stop?.summarize(nil)
      report.finish(accounts, stoppedBy: stop?.signal)
      return accounts.rejected == 0 ? .done : .doneWithRejects
    } catch {
      // A reader that closed the pipe, such as `| head`, is not an error; report the progress of any other end.
      stop?.summarize(nil)
      report.finish(
        progress.figures.accounts, stoppedBy: stop?.signal,
        failure: ExtractReport.Failure("\(error)", cutsOutput: error is Terminal.OutputError))
      throw error
    }
  }
}
