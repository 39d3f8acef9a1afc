import JSON
import Mappings
import Runtime

/// `switchyard mappings`: this build's rules about Apple's vocabulary.
enum MappingsCommand {
  static let command = Command(
    "mappings", "See what this build believes about Apple's words.",
    discussion: """
      The tables of Mappings/ are embedded in the program: one fact a row, each with an id that never changes. Ledgers, logs and "switchyard convert" name facts by these ids.
      """,
    examples: [Command.Example("switchyard mappings show events", "what every notification means")],
    subcommands: [show])

  private static let show = Command(
    "show", "Show the tables, one of them, or one row.",
    examples: [
      Command.Example("switchyard mappings show", "which tables there are"),
      Command.Example("switchyard mappings show events"),
      Command.Example("switchyard mappings show D-030", "the row of an id, in any table"),
      Command.Example("switchyard mappings show --row T-017", "the same"),
      Command.Example("switchyard mappings show --json transaction-fields", "a line each row"),
    ],
    options: [.value("row", "ID", "Only the row of this id."), JSONOutput.option],
    arguments: [
      Positional("TABLE_OR_ID", count: .optional, "A table, or the id of a row. Without it: which tables there are.")
    ]
  ) { arguments, terminal in
    let word = arguments.positionals.first
    let named = word.flatMap(MappingTable.init(rawValue:))
    if let word, named == nil {
      guard mapping(of: word) != nil else {
        let what = "\"\(word.plain)\" is neither a table nor the id of a row"
        throw UsageError(
          .invalidValue, "\(what). `switchyard mappings show` lists the tables.",
          suggestion: Suggestion.nearest(to: word, among: MappingTable.allCases.map(\.rawValue)), path: arguments.path)
      }
      guard arguments.value("row") == nil else {
        throw UsageError(.invalidValue, "Specify one row: \(word.plain) or --row.", path: arguments.path)
      }
      try show(row: word, of: MappingTable.allCases, arguments, terminal)
    } else if let id = arguments.value("row") {
      try show(row: id, of: named.map { [$0] } ?? MappingTable.allCases, arguments, terminal)
    } else if let named {
      try show(named, named.embedded.rows, arguments, terminal)
    } else {
      try list(arguments, terminal)
    }
    return .done
  }

  private static func mapping(of id: String) -> MappingTable? {
    MappingTable.allCases.first { mapping in mapping.embedded.rows.contains { $0.id == id.uppercased() } }
  }

  private static func list(_ arguments: ParsedArguments, _ terminal: Terminal) throws {
    var table = TextTable([.init("TABLE"), .init("IDS"), .init("ROWS", .right), .init("WHAT")])
    for mapping in MappingTable.allCases {
      let embedded = mapping.embedded
      if arguments.wantsJSON {
        try terminal.write(
          [
            "table": .string(mapping.rawValue), "letter": .string(String(mapping.letter)),
            "rows": .integer(Int64(embedded.rows.count)), "columns": .array(embedded.columns.map(JSONValue.string)),
            "comment": .string(embedded.comment.joined(separator: "\n")),
          ] as JSONObject)
      } else {
        table.add([
          mapping.rawValue, "\(mapping.letter)-…", "\(embedded.rows.count)", embedded.comment.first ?? "",
        ])
      }
    }
    if !arguments.wantsJSON { try terminal.write(table.render(for: terminal)) }
  }

  private static func show(
    _ mapping: MappingTable, _ rows: [Table.Row], _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws {
    let columns = mapping.embedded.columns
    if arguments.wantsJSON {
      for row in rows {
        var object: JSONObject = ["table": .string(mapping.rawValue)]
        for column in columns { object[column] = .string(row[column]) }
        try terminal.write(object)
      }
      return
    }
    for line in mapping.embedded.comment { terminal.note(line) }
    var table = TextTable(columns.map { TextTable.Column($0) })
    for row in rows { table.add(columns.map { row[$0] }) }
    try terminal.write(table.render(for: terminal))
  }

  private static func show(
    row id: String, of tables: [MappingTable], _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws {
    for mapping in tables {
      guard let row = mapping.embedded.rows.first(where: { $0.id == id.uppercased() }) else { continue }
      return try show(mapping, [row], arguments, terminal)
    }
    throw NoSuchRow(id: id)
  }
}

struct NoSuchRow: ExitStatusError, CustomStringConvertible {
  let id: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "no row has the id \"\(id.plain)\"; see \"switchyard mappings show\"" }
}
