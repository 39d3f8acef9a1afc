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

/// `switchyard compare`: the differences between Switchyard's responses and Apple's.
///
/// Keys and exit statuses are stable.
enum CompareCommand {
  static let command = Command(
    "compare", "See how Switchyard's answers differ from Apple's, and why.",
    examples: [
      Command.Example("switchyard compare list --app com.example.app")
    ],
    options: DatabaseOptions.options,
    subcommands: [list, CompareShow.command, CompareRules.command])

  static let limitOption = Option.value("limit", "N", default: "100", "How many comparisons at most, 1 to 10000.")
  static let appOption = Option.value("app", "APP", "One app only.")

  private static let list = Command(
    "list", "List the differences between Switchyard's answers and Apple's, newest first.",
    discussion: """
      One line for each field that differs, with its cause and, if a customer's access would have differed, the impact. With \
      --impact one line for each comparison: each product with its originalTransactionId and how long either answer gives access, \
      and the fields; with --json still a line for each field. COUNTS is `no` for a comparison that the guard and `rollout advance` do not count as an impact: its causes are timing \
      or incomplete. Comparisons without a difference are not listed. `switchyard mappings show --row ID` explains the rule \
      that decided the cause.
      """,
    examples: [
      Command.Example("switchyard compare list --app com.example.app --json"),
      Command.Example("switchyard compare list --app com.example.app --cause ourDefect"),
    ],
    options: [
      appOption, EnvironmentOption.option,
      .value("cause", "CAUSE", "One cause only, as in the table difference-causes."),
      .flag("impact", "Only differences that would have changed a customer's access."), limitOption, JSONOutput.option,
    ]
  ) { arguments, terminal in
    let cause = arguments.value("cause")
    if let cause, DifferenceTable.Cause(rawValue: cause) == nil {
      let known = DifferenceTable.Cause.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError(.invalidValue, "--cause is one of \(known).", path: arguments.path)
    }
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let found = try await Self.comparisons(
        arguments, connection, cause: cause, affecting: arguments.flag("impact"))
      defer { if found.hasMore { terminal.note(Self.noteOfMore) } }
      let place = PlaceColumns(arguments)
      if arguments.flag("impact"), !arguments.wantsJSON {
        try Self.writeImpacts(found, cause: cause, place, terminal)
        return .done
      }
      var columns: [TextTable.Column] = [.init("ID", .right), .init("AT", isWhole: true)]
      columns += place.columns
      columns += [
        .init("CAUSE"), .init("IMPACT"), .init("PATH", isWhole: true), .init("APPLE", isWhole: true), .init("OURS"),
      ]
      var table = TextTable(columns)
      for (row, app) in found.rows {
        for difference in row.judgement.fields {
          if let cause, difference["cause"]?.string != cause { continue }
          let hasImpact = difference["impact"]?.object != nil
          if arguments.flag("impact"), !hasImpact { continue }
          if arguments.wantsJSON {
            try terminal.write(Self.line(difference, row, app))
          } else {
            var cells = ["\(row.id)", row.comparedAt.iso8601]
            cells += place.cells(row, app)
            cells += [difference["cause"]?.string ?? "", hasImpact ? "yes" : "-", difference["path"]?.string ?? ""]
            cells += [Self.text(difference["theirs"]), Self.text(difference["ours"])]
            table.add(cells)
          }
        }
      }
      if !arguments.wantsJSON { try terminal.write(table.render(for: terminal)) }
      return .done
    }
  }

  /// Writes a row for each comparison that would have changed a customer's access, and the number that does not count.
  private static func writeImpacts(
    _ found: Found, cause: String?, _ place: PlaceColumns, _ terminal: Terminal
  ) throws {
    var columns: [TextTable.Column] = [.init("ID", .right), .init("AT", isWhole: true)]
    columns += place.columns
    columns += [.init("CAUSE"), .init("COUNTS", isWhole: true), .init("IMPACT", isWhole: true), .init("FIELDS")]
    var table = TextTable(columns)
    var uncounted = 0
    for (row, app) in found.rows {
      let fields = row.judgement.fields.filter {
        $0["impact"]?.object != nil && (cause == nil || $0["cause"]?.string == cause)
      }
      guard !fields.isEmpty else { continue }
      if !row.judgement.counts { uncounted += 1 }
      let products = CompareShow.impact(row.judgement.impactObject)
      let paths = fields.compactMap { $0["path"]?.string }
      var cells = ["\(row.id)", row.comparedAt.iso8601]
      cells += place.cells(row, app)
      cells += [cause ?? row.judgement.cause, row.judgement.counts ? "yes" : "no"]
      cells += [products.isEmpty ? "-" : products.joined(separator: "; "), paths.joined(separator: ", ")]
      table.add(cells)
    }
    try terminal.write(table.render(for: terminal))
    guard uncounted > 0 else { return }
    terminal.note("\(uncounted) of them do not count (COUNTS no): the guard and `rollout advance` leave them out.")
  }

  struct Found {
    let rows: [(row: ComparisonTable.Row, app: String)]
    /// Whether older ones exist beyond `--limit`.
    let hasMore: Bool
  }

  static let noteOfMore = "There are older ones: --limit N reads more, up to 10000."

  /// Returns the newest comparisons, at most `--limit`.
  ///
  /// - Parameters:
  ///   - differing: only those that differed.
  ///   - keptAlone: only those whose responses are stored.
  static func comparisons(
    _ arguments: ParsedArguments, _ connection: Connection, differing: Bool = true, cause: String? = nil,
    affecting: Bool = false, keptAlone: Bool = false
  ) async throws -> Found {
    let environment = try EnvironmentOption.environment(arguments)
    let limit = try arguments.integer("limit", in: 1...10_000) ?? 100
    let only = arguments.value("app")
    if let only { _ = try await AppRecord.find(only, connection) }
    let all = try await connection.read { session throws(DatabaseError) in
      var found: [(row: ComparisonTable.Row, app: String)] = []
      for app in try AppTable.all(includingRemoved: true, in: session) where only == nil || app.bundleID == only {
        for place in environment.map({ [$0] }) ?? [.production, .sandbox] {
          let scope = AppScope(app: app.id, environment: place)
          found += try ComparisonTable.list(
            of: scope, differing: differing, cause: cause, affecting: affecting, kept: keptAlone, limit: limit + 1,
            in: session
          ).map { (row: $0, app: app.bundleID) }
        }
      }
      return found
    }
    let newest = all.sorted { ($0.row.comparedAt, $0.row.id) > ($1.row.comparedAt, $1.row.id) }
    return Found(rows: Array(newest.prefix(limit)), hasMore: newest.count > limit)
  }

  /// Returns a difference as a line of JSON, with the stable keys first.
  static func line(_ difference: JSONObject, _ row: ComparisonTable.Row, _ app: String) -> JSONObject {
    var line: JSONObject = [:]
    for key in ["path", "cause", "theirs", "ours", "impact", "rule"] { line[key] = difference[key] ?? .null }
    line["comparison"] = .integer(row.id)
    line["app"] = .string(app)
    line["environment"] = .string(row.scope.environment.rawValue)
    line["comparedAt"] = .integer(row.comparedAt.sinceEpoch)
    line["settled"] = .bool(row.isSettled)
    line["counts"] = .bool(row.judgement.counts)
    return line
  }

  static func text(_ value: JSONValue?) -> String {
    guard let value, !value.isNull else { return "-" }
    let text = value.string ?? String(decoding: value.encoded(), as: UTF8.self)
    return text.count > 40 ? "\(text.prefix(37))..." : text
  }
}

extension ComparisonTable.Outcome {
  /// The changed access; `nil` if access would not change.
  var impactObject: JSONObject? { impact.flatMap { try? JSONReader.read($0).object } }

  var fields: [JSONObject] {
    guard !differences.isEmpty else { return [] }
    let limits = JSONLimits(bytes: differences.count, depth: 32)
    return ((try? JSONReader.read(differences, limits: limits))?.array ?? []).compactMap(\.object)
  }
}

/// The columns of app and environment, unless the command line determines them.
private struct PlaceColumns {
  private let hasApp: Bool
  private let hasEnvironment: Bool

  init(_ arguments: ParsedArguments) {
    hasApp = arguments.value("app") == nil
    hasEnvironment = arguments.value(EnvironmentOption.option.name) == nil
  }

  var columns: [TextTable.Column] {
    var columns: [TextTable.Column] = []
    if hasApp { columns.append(.init("APP", isWhole: true)) }
    if hasEnvironment { columns.append(.init("ENVIRONMENT", isWhole: true)) }
    return columns
  }

  func cells(_ row: ComparisonTable.Row, _ app: String) -> [String] {
    var cells: [String] = []
    if hasApp { cells.append(app) }
    if hasEnvironment { cells.append(row.scope.environment.rawValue) }
    return cells
  }
}

struct NoComparison: ExitStatusError, CustomStringConvertible {
  let description: String
  var exitStatus: ExitStatus { .failed }
}
