/// `docs/mappings.md`: every table as a page for people, generated from the tables themselves.
struct MappingsPage {
  var text: String {
    var page = """
      # Mappings

      What Switchyard believes about Apple's vocabulary. This page is generated: edit the tables in `Mappings/`, then
      `SWITCHYARD_WRITE_DOCS=1 swift test --filter MappingsTests` checks them and writes it.

      Each row is one fact, with an id that stays the same for ever: ledgers, logs, `switchyard convert` and runbooks name it.
      `switchyard mappings show --row ID` tells what is behind an id.

      | table | ids | rows |
      | --- | --- | --- |

      """
    for mapping in MappingTable.allCases {
      let name = mapping.rawValue
      page += Self.row(["[\(name)](#\(name))", "\(mapping.letter)", "\(mapping.embedded.rows.count)"])
    }
    for mapping in MappingTable.allCases { page += Self.section(mapping) }
    return page
  }

  private static func section(_ mapping: MappingTable) -> String {
    let table = mapping.embedded
    var text = "\n## \(mapping.rawValue)\n\n```text\n"
    for line in table.comment { text += line + "\n" }
    text += "```\n\n" + row(table.columns) + row(table.columns.map { _ in "---" })
    for line in table.rows { text += row(table.columns.map { escaped(line[$0]) }) }
    return text
  }

  private static func row(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |\n" }

  /// A bar would end the cell.
  private static func escaped(_ cell: String) -> String { cell.replacing("|", with: "\\|") }
}
