import Comparison
import Database
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Shadow
import Signing
import Time

/// `switchyard compare show`: one comparison with both responses.
enum CompareShow {
  static let command = Command(
    "show", "Show one comparison: its customer, the differences, and both answers side by side.",
    discussion: """
      ID is the number in `switchyard compare list`. RULE is the row of the table difference-causes that named the cause. The fields \
      that differ are shown, with --all every field of both answers, those that differ marked with *. Both answers are kept \
      sealed for 14 days; after that only the differences are shown.
      """,
    examples: [
      Command.Example("switchyard compare show 42"), Command.Example("switchyard compare show 42 --all"),
      Command.Example("switchyard compare show 42 --json"),
    ],
    options: MasterKeyOptions.options + [.flag("all", "Every field of both answers."), JSONOutput.option],
    arguments: [Positional("ID", "The number of the comparison.")]
  ) { arguments, terminal in
    guard let id = Int64(arguments.positionals[0]) else {
      throw UsageError(.invalidValue, "ID is a number.", path: arguments.path)
    }
    let database = try DatabaseOptions(arguments)
    let key = MasterKeyOptions(arguments, database: database)
    return try await database.withLedger(terminal) { connection in
      let (row, app, sealed) = try await connection.read { session throws(DatabaseError) in
        let row = try ComparisonTable.find(id, in: session)
        let apps = try AppTable.all(includingRemoved: true, in: session)
        return (row, apps.first { $0.id == row?.scope.app }, try ComparisonTable.body(of: id, in: session))
      }
      guard let row else { throw NoComparison(description: "No comparison has the number \(id).") }
      let keys = sealed == nil ? nil : try await key.keys(for: connection, terminal)
      let pair = sealed.flatMap { sealed in keys.flatMap { ShadowComparer.pair(sealed, of: id, with: $0) } }
      let (bundleID, account) = (app?.bundleID ?? "", pair?.account.sorted() ?? [])
      let document: JSONObject = [
        "comparison": .integer(id), "app": .string(bundleID), "environment": .string(row.scope.environment.rawValue),
        "comparedAt": .integer(row.comparedAt.sinceEpoch), "settled": .bool(row.isSettled),
        "cause": .string(row.judgement.cause), "counts": .bool(row.judgement.counts),
        "originalTransactionIds": .array(account.map(JSONValue.string)),
        "impact": row.judgement.impactObject.map(JSONValue.object) ?? .null,
        "differences": .array(row.judgement.fields.map(JSONValue.object)),
        "theirs": pair.map { .object($0.theirs) } ?? .null, "ours": pair.map { .object($0.ours) } ?? .null,
      ]
      if arguments.wantsJSON {
        try terminal.write(document)
      } else {
        let counts = row.judgement.counts ? "counts against Switchyard" : "does not count against Switchyard"
        try terminal.write(
          "\(bundleID) \(row.scope.environment.rawValue), \(row.comparedAt.iso8601): \(row.judgement.cause), \(counts)\n"
        )
        if !account.isEmpty { try terminal.write("customer: \(account.joined(separator: " "))\n") }
        for line in impact(row.judgement.impactObject) { try terminal.write("impact: \(line)\n") }
        let table = arguments.flag("all") && pair != nil ? whole(pair, row) : differing(row)
        try terminal.write(table.render(for: terminal))
      }
      if pair == nil {
        terminal.note(
          sealed == nil
            ? "The answers are not kept: those that differ are, for 14 days." : "The kept answers do not open.")
      }
      return .done
    }
  }
  /// Returns a sentence for each product whose access would differ.
  static func impact(_ impact: JSONObject?) -> [String] {
    (impact?["products"]?.array ?? []).compactMap(\.object).map { part in
      func until(_ key: String) -> String {
        if part[key]?.string != nil { return "forever" }
        return part[key]?.milliseconds.map { "until \($0.iso8601)" } ?? "not at all"
      }
      let product = "\(part["productId"]?.string ?? "") (\(part["originalTransactionId"]?.string ?? ""))"
      return "\(product): \(until("theirsUntil")) by Apple's answer, \(until("oursUntil")) by Switchyard's"
    }
  }

  private static func differing(_ row: ComparisonTable.Row) -> TextTable {
    var table = TextTable([.init("FIELD"), .init("APPLE", isWhole: true), .init("OURS"), .init("CAUSE"), .init("RULE")])
    for difference in row.judgement.fields {
      table.add([
        difference["path"]?.string ?? "", CompareCommand.text(difference["theirs"]),
        CompareCommand.text(difference["ours"]), difference["cause"]?.string ?? "", difference["rule"]?.string ?? "",
      ])
    }
    return table
  }

  /// Returns every field of both responses in Apple's order, then those that only Switchyard's has.
  private static func whole(_ pair: ResponsePair?, _ row: ComparisonTable.Row) -> TextTable {
    var table = TextTable([.init(""), .init("FIELD", isWhole: true), .init("APPLE", isWhole: true), .init("OURS")])
    let (theirs, ours) = (leaves(pair?.theirs ?? [:]), leaves(pair?.ours ?? [:]))
    let other = Dictionary(ours) { first, _ in first }
    let known = Set(theirs.map(\.0))
    for (path, value) in theirs + ours.filter({ !known.contains($0.0) }).map({ ($0.0, JSONValue.null) }) {
      let own = other[path] ?? .null
      table.add([value == own ? "" : "*", path, CompareCommand.text(value), CompareCommand.text(own)])
    }
    return table
  }

  private static func leaves(_ object: JSONObject, below path: String = "") -> [(String, JSONValue)] {
    object.flatMap { member in leaves(member.value, at: path.isEmpty ? member.key : "\(path).\(member.key)") }
  }

  private static func leaves(_ value: JSONValue, at path: String) -> [(String, JSONValue)] {
    switch value {
    case .object(let object): leaves(object, below: path)
    case .array(let items): items.enumerated().flatMap { leaves($1, at: "\(path)[\($0)]") }
    case .null, .bool, .integer, .number, .string: [(path, value)]
    }
  }
}
