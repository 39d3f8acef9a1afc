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

/// `switchyard compare show`: one comparison with both answers.
enum CompareShow {
  static let command = Command(
    "show", "Show one comparison with both answers.",
    discussion: """
      ID is the number in `switchyard compare list`. Both answers are kept sealed for 14 days; after that only the \
      differences are shown.
      """,
    examples: [Command.Example("switchyard compare show 42 --json")],
    options: MasterKeyOptions.options + [JSONOutput.option],
    arguments: [Positional("ID", "The number of the comparison.")]
  ) { arguments, terminal in
    guard let id = Int64(arguments.positionals[0]) else {
      throw UsageError(.invalidValue, "ID is a number.", path: arguments.path)
    }
    let database = try DatabaseOptions(arguments)
    let key = MasterKeyOptions(arguments, database: database)
    return try await database.withLedger(terminal) { connection in
      let (row, sealed) = try await connection.read { session throws(DatabaseError) in
        (try ComparisonTable.find(id, in: session), try ComparisonTable.body(of: id, in: session))
      }
      guard let row else { throw NoComparison(description: "No comparison has the number \(id).") }
      let keys = try key.load(hasSealed: sealed != nil) { terminal.note($0) }
      let pair = sealed.flatMap { Shadow.pair($0, of: id, with: keys) }
      let document: JSONObject = [
        "comparison": .integer(id), "environment": .string(row.scope.environment.rawValue),
        "comparedAt": .integer(row.comparedAt.sinceEpoch), "settled": .bool(row.isSettled),
        "cause": .string(row.judgement.cause), "counts": .bool(row.judgement.counts),
        "differences": .array(row.judgement.fields.map(JSONValue.object)),
        "theirs": pair.map { .object($0.theirs) } ?? .null, "ours": pair.map { .object($0.ours) } ?? .null,
      ]
      if arguments.wantsJSON {
        try terminal.write(document)
      } else {
        try terminal.write("\(row.comparedAt.iso8601) \(row.scope.environment.rawValue) \(row.judgement.cause)\n")
        for difference in row.judgement.fields {
          try terminal.write(
            "\(difference["path"]?.string ?? ""): \(CompareCommand.text(difference["theirs"])) | "
              + "\(CompareCommand.text(difference["ours"]))  \(difference["cause"]?.string ?? "")\n")
        }
      }
      if pair == nil { terminal.note("The answers are no longer kept, or the master key does not open them.") }
      return .done
    }
  }
}
