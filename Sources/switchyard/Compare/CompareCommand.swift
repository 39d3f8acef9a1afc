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

/// `switchyard compare`: how our answers differed from Apple's.
///
/// Others script on it: keys and exit statuses are promised.
enum CompareCommand {
  static let command = Command(
    "compare", "See how the answers of Switchyard differ from Apple's, and why.",
    examples: [
      Command.Example("switchyard compare list --app com.example.app"),
      Command.Example("switchyard compare replay --app com.example.app", "with the rules of this build"),
    ],
    options: DatabaseOptions.options,
    subcommands: [list, CompareShow.command, CompareReplay.command, CompareRules.command])

  static let limitOption = Option.value("limit", "N", default: "100", "How many comparisons at most, 1 to 10000.")
  static let appOption = Option.value("app", "BUNDLE-ID", "One app only.")

  private static let list = Command(
    "list", "List the differences between Switchyard's answers and Apple's, newest first.",
    discussion: """
      One line for each field that differs, with its cause and, if a customer's access would have differed, the impact. With \
      --impact one line for each comparison: each product with its originalTransactionId and how long either answer gives access, \
      and the fields; with --json a line for each field all the same. \
      Comparisons without a difference are counted, not listed. `switchyard mappings show --row ID` explains the rule \
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
      let comparisons = try await Self.comparisons(
        arguments, connection, cause: cause, affecting: arguments.flag("impact"))
      if arguments.flag("impact"), !arguments.wantsJSON {
        try terminal.write(Self.impacts(comparisons, cause: cause).render(for: terminal))
        return .done
      }
      var table = TextTable([
        .init("ID", .right), .init("AT", isWhole: true), .init("CAUSE"), .init("IMPACT"), .init("PATH", isWhole: true),
        .init("APPLE"), .init("OURS"),
      ])
      for (row, app) in comparisons {
        for difference in row.judgement.fields {
          if let cause, difference["cause"]?.string != cause { continue }
          let hasImpact = difference["impact"]?.object != nil
          if arguments.flag("impact"), !hasImpact { continue }
          if arguments.wantsJSON {
            try terminal.write(Self.line(difference, row, app))
          } else {
            table.add([
              "\(row.id)", row.comparedAt.iso8601, difference["cause"]?.string ?? "", hasImpact ? "yes" : "-",
              difference["path"]?.string ?? "", Self.text(difference["theirs"]), Self.text(difference["ours"]),
            ])
          }
        }
      }
      if !arguments.wantsJSON { try terminal.write(table.render(for: terminal)) }
      return .done
    }
  }

  /// A row for each comparison that would have changed a customer's access.
  private static func impacts(_ comparisons: [(row: ComparisonTable.Row, app: String)], cause: String?) -> TextTable {
    var table = TextTable([
      .init("ID", .right), .init("AT", isWhole: true), .init("CAUSE"), .init("IMPACT", isWhole: true), .init("FIELDS"),
    ])
    for (row, _) in comparisons {
      let fields = row.judgement.fields.filter {
        $0["impact"]?.object != nil && (cause == nil || $0["cause"]?.string == cause)
      }
      guard !fields.isEmpty else { continue }
      let products = CompareShow.impact(row.judgement.impactObject)
      let paths = fields.compactMap { $0["path"]?.string }
      table.add([
        "\(row.id)", row.comparedAt.iso8601, cause ?? row.judgement.cause,
        products.isEmpty ? "-" : products.joined(separator: "; "), paths.joined(separator: ", "),
      ])
    }
    return table
  }

  /// The newest comparisons, with their apps' bundle ids.
  static func comparisons(
    _ arguments: ParsedArguments, _ connection: Connection, differing: Bool = true, cause: String? = nil,
    affecting: Bool = false
  ) async throws -> [(row: ComparisonTable.Row, app: String)] {
    let environment = try EnvironmentOption.environment(arguments)
    let limit = try arguments.integer("limit", in: 1...10_000) ?? 100
    let only = arguments.value("app")
    if let only { _ = try await AppRecord.find(only, connection) }
    return try await connection.read { session throws(DatabaseError) in
      var found: [(ComparisonTable.Row, String)] = []
      for app in try AppTable.all(includingRemoved: true, in: session) where only == nil || app.bundleID == only {
        for place in environment.map({ [$0] }) ?? [.production, .sandbox] {
          let scope = Scope(app: app.id, environment: place)
          found += try ComparisonTable.list(
            of: scope, differing: differing, cause: cause, affecting: affecting, limit: limit, in: session
          ).map { ($0, app.bundleID) }
        }
      }
      return Array(found.sorted { ($0.0.comparedAt, $0.0.id) > ($1.0.comparedAt, $1.0.id) }.prefix(limit))
    }
  }

  /// A difference as a line of JSON: the promised keys first.
  static func line(_ difference: JSONObject, _ row: ComparisonTable.Row, _ app: String) -> JSONObject {
    var line: JSONObject = [:]
    for key in ["path", "cause", "theirs", "ours", "impact", "rule"] { line[key] = difference[key] ?? .null }
    line["comparison"] = .integer(row.id)
    line["app"] = .string(app)
    line["environment"] = .string(row.scope.environment.rawValue)
    line["comparedAt"] = .integer(row.comparedAt.sinceEpoch)
    line["settled"] = .bool(row.isSettled)
    return line
  }

  /// A value in a cell of a table.
  static func text(_ value: JSONValue?) -> String {
    guard let value, !value.isNull else { return "-" }
    let text = value.string ?? String(decoding: value.encoded(), as: UTF8.self)
    return text.count > 40 ? "\(text.prefix(37))..." : text
  }
}

extension ComparisonTable.Judgement {
  /// Whose access would differ; nil where nobody's would.
  var impactObject: JSONObject? { impact.flatMap { try? JSONReader.read($0).object } }

  /// The fields that differ.
  var fields: [JSONObject] {
    guard !differences.isEmpty else { return [] }
    let limits = JSONLimits(bytes: differences.count, depth: 32)
    return ((try? JSONReader.read(differences, limits: limits))?.array ?? []).compactMap(\.object)
  }
}

/// A comparison that cannot be shown.
struct NoComparison: ExitStatusError, CustomStringConvertible {
  let description: String
  var exitStatus: ExitStatus { .failed }
}
