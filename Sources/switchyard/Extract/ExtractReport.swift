import Backfill
import JSON
import Runtime
import Time

/// The output of `extract` on stderr: the progress, and finally the result of every row.
struct ExtractReport: Sendable {
  private static let heartbeat = Interval.seconds(30)
  private static let shownSpans = 10
  private static let redraw = Interval.milliseconds(250)

  private let progress: ExtractionProgress
  private let wantsJSON: Bool
  private let isUnverified: Bool
  private let quotesFormulas: Bool
  private let terminal: Terminal
  private let start = ContinuousClock.now

  init(
    progress: ExtractionProgress, wantsJSON: Bool, isUnverified: Bool, quotesFormulas: Bool, terminal: Terminal
  ) {
    self.progress = progress
    self.wantsJSON = wantsJSON
    self.isUnverified = isUnverified
    self.quotesFormulas = quotesFormulas
    self.terminal = terminal
  }

  private var elapsed: Interval {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return .milliseconds(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
  }

  private var isLive: Bool { terminal.isErrorTTY && !wantsJSON }

  /// Runs `body` and reports progress: continuously on a terminal, otherwise every 30 s.
  func whileRunning(_ body: @escaping @Sendable () async throws -> RowCounts) async throws -> RowCounts {
    try await withThrowingTaskGroup(of: RowCounts?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        while !Task.isCancelled {
          do { try await Task.sleep(for: .milliseconds((isLive ? Self.redraw : Self.heartbeat).milliseconds)) } catch {
            break
          }
          tell()
        }
        return nil
      }
      defer {
        group.cancelAll()
        if isLive { terminal.noteInPlace("") }
      }
      while let result = try await group.next() { if let result { return result } }
      return progress.figures.accounts
    }
  }

  private func tell() {
    let figures = progress.figures
    if isLive {
      terminal.noteInPlace("extract: \(figures.line(after: elapsed))")
    } else if wantsJSON {
      var object: JSONObject = ["progress": .string(figures.line(after: elapsed))]
      object["in"] = .integer(Int64(figures.accounts.rows))
      object["estimatedTotal"] = figures.total.map { .integer(Int64($0.rows)) } ?? .null
      terminal.note(String(decoding: object.encoded(), as: UTF8.self))
    } else {
      terminal.note("extract: \(figures.line(after: elapsed))")
    }
  }

  struct Failure {
    let reason: String
    /// Whether the output may have more lines than the summary counts, the last of them cut.
    let cutsOutput: Bool

    init(_ reason: String, cutsOutput: Bool) {
      self.reason = reason
      self.cutsOutput = cutsOutput
    }
  }

  /// Prints the summary of a stopped run that waits for its output's reader, with completely written rows only.
  func sayHeldUp(stoppedBy signal: Signal?) {
    finish(
      progress.figures.accounts, stoppedBy: signal, failure: Failure("the output is not being read", cutsOutput: true))
  }

  /// Prints the summary; its counts balance.
  func finish(_ accounts: RowCounts, stoppedBy signal: Signal?, failure: Failure? = nil) {
    precondition(accounts.balances, "the accounts do not balance")
    let seconds = Double(elapsed.milliseconds) / 1_000
    if wantsJSON {
      terminal.note(String(decoding: json(accounts, signal, failure).encoded(), as: UTF8.self))
      return
    }
    var text = "\(grouped(accounts.rows)) in = \(grouped(accounts.usable)) usable"
    text += " + \(grouped(accounts.duplicates)) duplicates + \(grouped(accounts.rejected)) rejected"
    let rate = seconds > 0 ? Int(Double(accounts.rows) / seconds) : accounts.rows
    text += "; \((seconds * 10).rounded() / 10) s, \(grouped(rate))/s"
    text += isUnverified ? "; NOT VERIFIED: no signature was checked" : "; every signature verified"
    if let format = progress.figures.format { text += "; read as \(Self.name(of: format))" }
    for (code, count) in accounts.rejectedByReason { text += "\n  \(grouped(count)) \(code)" }
    text += damage(progress.figures)
    if progress.figures.formulas > 0, !quotesFormulas { text += "\n" + FormulaCells.warning(progress.figures.formulas) }
    if let failure {
      text += "\nended early: "
      text +=
        failure.cutsOutput
        ? "the output may have more lines than are counted here, and its last line may be cut"
        : "the lines that were written are whole; rows that were read right before the error may be missing"
    }
    terminal.note(text)
  }

  private func damage(_ figures: ExtractionProgress.Figures) -> String {
    func of(_ file: String?) -> String { file.map { " of \(UsageError.shown($0))" } ?? "" }
    var text = figures.doubtful.prefix(Self.shownSpans).map { span in
      let lines = span.first == span.last ? "line \(span.first)" : "lines \(span.first) to \(span.last)"
      return "\n\(lines)\(of(span.file)): a quote is missing or extra, all rejected"
    }.joined()
    let rest = figures.doubtfulCount - min(figures.doubtful.count, Self.shownSpans)
    if rest > 0 { text += "\nand \(grouped(rest)) more such spans" }
    if let row = figures.firstMisfit {
      text += "\nline \(row.line)\(of(row.file)) is the first with another number of fields than the header"
      text += ": \(row.count) instead of \(row.expected)"
    }
    return text
  }

  private func json(_ accounts: RowCounts, _ signal: Signal?, _ failure: Failure?) -> JSONObject {
    let figures = progress.figures
    let reasons = accounts.rejectedByReason.map { ($0.code, JSONValue.integer(Int64($0.count))) }
    let spans = figures.doubtful.map { span in
      var object: JSONObject = [:]
      object["file"] = span.file.map(JSONValue.string)
      object["firstLine"] = .integer(Int64(span.first))
      object["lastLine"] = .integer(Int64(span.last))
      return JSONValue.object(object)
    }
    var misfit: JSONObject?
    if let row = figures.firstMisfit {
      misfit = [
        "line": .integer(Int64(row.line)), "fields": .integer(Int64(row.count)),
        "expected": .integer(Int64(row.expected)),
      ]
      misfit?["file"] = row.file.map(JSONValue.string)
    }
    return [
      "version": 1, "in": .integer(Int64(accounts.rows)), "usable": .integer(Int64(accounts.usable)),
      "duplicates": .integer(Int64(accounts.duplicates)), "rejected": .integer(Int64(accounts.rejected)),
      "reasons": .object(JSONObject(reasons)), "verified": .bool(!isUnverified),
      "doubtfulSpans": .integer(Int64(figures.doubtfulCount)), "doubtfulLines": .array(spans),
      "firstMisfit": misfit.map(JSONValue.object) ?? .null, "formulaCells": .integer(Int64(figures.formulas)),
      "inputFormat": JSONValue(figures.format), "milliseconds": .integer(elapsed.milliseconds),
      "complete": .bool(signal == nil && failure == nil), "stoppedBy": JSONValue(signal?.name),
      "failure": JSONValue(failure?.reason),
      "outputMayBeCut": .bool(failure?.cutsOutput == true),
    ]
  }

  private static func name(of format: String) -> String {
    switch format {
    case "csv": "a table"
    case "jsonl": "JSON Lines"
    case "lines": "one receipt a line"
    case "receipt": "one receipt"
    default: "several formats"
    }
  }

  private func grouped(_ number: Int) -> String { ExtractionProgress.Figures.grouped(number) }
}
