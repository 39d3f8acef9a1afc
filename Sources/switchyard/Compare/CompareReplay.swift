import Comparison
import Database
import JSON
import Ledger
import LegacyAnswers
import Mappings
import Operations
import Purchases
import Runtime
import Shadow
import Signing
import Time

/// `switchyard compare replay`: compares yesterday's differences with the rules of this build.
enum CompareReplay {
  static let command = Command(
    "replay", "Compose the answers of kept comparisons again with this build, and compare them.",
    discussion: """
      Each comparison that differed and whose answers are still kept is composed again from the data that was known then, \
      by the rules of this build and the app's readings, or those of --reading. It shows whether a mended rule removes a \
      difference. Nothing is stored. Exit status: 0 no difference is left, 5 some are.
      """,
    examples: [
      Command.Example("switchyard compare replay --app com.example.app"),
      Command.Example(
        "switchyard compare replay --app com.example.app --reading Y-009", "with another reading of a rule"),
    ],
    options: [
      CompareCommand.appOption, EnvironmentOption.option, CompareCommand.limitOption,
      .value("reading", "ID", repeats: true, "A row of answer-rules to use instead of the app's readings."),
      JSONOutput.option,
    ] + MasterKeyOptions.options
  ) { arguments, terminal in
    let database = try DatabaseOptions(arguments)
    let key = MasterKeyOptions(arguments, database: database)
    let chosen = arguments.values("reading")
    return try await database.withLedger(terminal) { connection in
      let kept = try await KeptComparisons(arguments, connection, key, terminal)
      var (equal, differing) = (0, 0)
      let gone = try await kept.forEach { one in
        guard let rules = try? ComposingRules(choosing: chosen.isEmpty ? one.readings : chosen) else {
          throw UsageError(.invalidValue, "--reading names no row, or two rows of one rule.", path: arguments.path)
        }
        let composer = AnswerComposer(rules)
        let again = AnswerJudge(composer).compare(one.pair.recomposed(by: composer))
        if again.isEqual { equal += 1 } else { differing += 1 }
        if arguments.wantsJSON {
          try terminal.write([
            "comparison": .integer(one.row.id), "app": .string(one.app),
            "before": .string(one.row.judgement.cause),
            "after": .string(again.cause?.rawValue ?? ComparisonTable.equal),
            "impact": again.impact.map { .object($0.json) } ?? .null,
            "differences": .array(again.json.map(JSONValue.object)),
          ])
        } else {
          try terminal.write(
            "\(one.row.id): \(one.row.judgement.cause) to \(again.cause?.rawValue ?? ComparisonTable.equal)\n")
        }
      }
      terminal.note(
        "\(equal + differing) compared again: \(equal) equal now, \(differing) differ. \(gone) are no longer kept.")
      if kept.hasMore { terminal.note(CompareCommand.noteOfMore) }
      return differing > 0 ? .differences : .done
    }
  }
}

/// The newest comparisons, whose answers are read one after the other: all of them may not fit into memory.
struct KeptComparisons {
  struct One {
    let row: ComparisonTable.Row
    let app: String
    /// The app's readings of rules.
    let readings: [String]
    let pair: AnswerPair
  }

  private let found: CompareCommand.Found
  private let keys: Keyring?
  private let connection: Connection

  /// Whether there are older ones, beyond `--limit`.
  var hasMore: Bool { found.hasMore }

  /// - Parameters:
  ///   - differing: only those that differed.
  ///   - keptAlone: only those whose answers are kept.
  init(
    _ arguments: ParsedArguments, _ connection: Connection, _ key: MasterKeyOptions, _ terminal: Terminal,
    differing: Bool = true, keptAlone: Bool = false
  ) async throws {
    found = try await CompareCommand.comparisons(arguments, connection, differing: differing, keptAlone: keptAlone)
    keys = found.rows.isEmpty ? nil : try await key.keys(for: connection, terminal)
    self.connection = connection
  }

  /// Reads those whose answers are kept, the newest first, until the command is stopped.
  ///
  /// - Returns: how many have answers that are not kept any more, or that the master key does not open.
  func forEach(_ body: (One) throws -> Void) async throws -> Int {
    var (gone, readings): (Int, [String: [String]]) = (0, [:])
    for (row, app) in found.rows where !Task.isCancelled {
      if readings[app] == nil { readings[app] = try await AppRecord.find(app, connection).answerReadings }
      let sealed = try await connection.read { session throws(DatabaseError) in
        try ComparisonTable.body(of: row.id, in: session)
      }
      guard let keys, let sealed, let pair = Shadow.pair(sealed, of: row.id, with: keys) else {
        gone += 1
        continue
      }
      try body(One(row: row, app: app, readings: readings[app] ?? [], pair: pair))
    }
    return gone
  }
}
