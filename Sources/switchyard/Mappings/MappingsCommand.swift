import Mappings
import Runtime

/// `switchyard mappings`: what this build believes about Apple's vocabulary.
enum MappingsCommand {
  static let command = Command(
    "mappings", "See what this build believes about Apple's words, and compare it.",
    discussion: """
      The tables of Mappings/ are embedded in the program: one fact a row, each with an id that stays the same for \
      ever. Ledgers, logs and "switchyard convert" name facts by these ids.
      """,
    examples: [
      Command.Example("switchyard mappings show events", "what every notification means"),
      Command.Example("switchyard mappings show --row N-014", "what is behind an id"),
      Command.Example("switchyard mappings check events.tsv", "may this edited table be built?"),
      Command.Example("switchyard mappings diff ../newer/Mappings", "what another version believes otherwise"),
    ],
    subcommands: [MappingsShow.command, MappingsCheck.command, MappingsDiff.command, document])

  private static let document = Command(
    "document", "Print docs/mappings.md: every table as a page.",
    examples: [Command.Example("switchyard mappings document > docs/mappings.md", "after a table was edited")]
  ) { _, terminal in
    try terminal.write(MappingsPage().text)
    return .done
  }
}

/// A file that is none of the tables.
struct NoSuchTable: ExitStatusError, CustomStringConvertible {
  let name: String

  var exitStatus: ExitStatus { .failed }
  var description: String {
    "there is no table \"\(name.plain)\"; there are \(MappingTable.allCases.map(\.file).joined(separator: ", "))"
  }
}

extension MappingTable {
  /// No table is as long; an embedded one has at most 10 KB.
  static let sizeLimit = 1 << 20

  /// The table whose file this is a copy of, by its name.
  init(copiedTo path: String) throws(NoSuchTable) {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard let table = Self.allCases.first(where: { $0.file == name }) else { throw NoSuchTable(name: name) }
    self = table
  }
}
