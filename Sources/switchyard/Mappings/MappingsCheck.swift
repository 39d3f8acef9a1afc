import JSON
import Mappings
import Runtime

/// `switchyard mappings check`: whether tables are whole, before they are built into a program.
enum MappingsCheck {
  static let command = Command(
    "check", "Check the tables of this build, or edited ones.",
    discussion: """
      A file is known by its name. Checked are columns, ids, words and repetitions, and that no released id was taken \
      away or given to something else. Exit status: 0 when all is well, 1 when something is not.
      """,
    examples: [
      Command.Example("switchyard mappings check", "the tables of this build"),
      Command.Example("switchyard mappings check Mappings/*.tsv", "edited ones"),
    ],
    options: [JSONOutput.option],
    arguments: [Positional("FILE", count: .any, "Edited tables.")]
  ) { arguments, terminal in
    var isWell = true
    for (name, mapping, bytes) in try tables(arguments.positionals) {
      let problems = TableCheck(bytes, as: mapping).problems
      if !problems.isEmpty { isWell = false }
      if arguments.wantsJSON {
        try terminal.write(json(name, mapping, problems))
      } else if problems.isEmpty {
        try terminal.write("ok    \(name.plain)\n")
      } else {
        for problem in problems { try terminal.write(text(name, problem)) }
      }
    }
    return isWell ? .done : .failed
  }

  private static func tables(_ files: [String]) throws -> [(String, MappingTable, [UInt8])] {
    guard !files.isEmpty else { return MappingTable.allCases.map { ($0.file, $0, $0.bytes) } }
    return try files.map { file in
      (file, try MappingTable(copiedTo: file), try Input.read(file, limit: MappingTable.sizeLimit))
    }
  }

  private static func text(_ name: String, _ problem: TableCheck.Problem) -> String {
    let place = problem.line.map { ":\($0)" } ?? ""
    return "wrong \(name.plain)\(place): \(problem.what.plain)\n      \(problem.next)\n"
  }

  private static func json(_ name: String, _ mapping: MappingTable, _ problems: [TableCheck.Problem]) -> JSONObject {
    [
      "file": .string(name), "table": .string(mapping.rawValue), "ok": .bool(problems.isEmpty),
      "problems": .array(
        problems.map { problem in
          [
            "line": JSONValue(problem.line.map(Int64.init)), "what": .string(problem.what),
            "nextStep": .string(problem.next),
          ]
        }),
    ]
  }
}
