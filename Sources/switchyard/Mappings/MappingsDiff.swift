import JSON
import Mappings
import Runtime

/// `switchyard mappings diff`: what another copy of the tables says otherwise.
enum MappingsDiff {
  static let command = Command(
    "diff", "Compare the tables of this build with another copy.",
    discussion: """
      From this build to the other copy: + is a row only the copy has, - one only this build has, ~ a cell that differs. A \
      file is known by its name; of a folder every table in it is compared. Exit status: 0 when nothing differs, 5 \
      when something does.
      """,
    examples: [
      Command.Example("switchyard mappings diff Mappings", "does the folder say what the program says?"),
      Command.Example("switchyard mappings diff --json ../newer/Mappings/events.tsv"),
    ],
    options: [JSONOutput.option],
    arguments: [Positional("PATH", "A table, or a folder with tables.")]
  ) { arguments, terminal in
    let comparison = try Comparison(arguments.positionals[0])
    if arguments.wantsJSON {
      try terminal.write(comparison.json)
    } else {
      try terminal.write(comparison.text)
    }
    return comparison.isEqual ? .done : .differences
  }

  /// Each table with what the copy says of it, and which tables only one of the two has.
  private struct Comparison {
    private var tables: [(mapping: MappingTable, difference: TableDifference)] = []
    private var missing: [String] = []
    private var unknown: [String] = []

    init(_ path: String) throws {
      guard FileFacts(path)?.isDirectory == true else {
        tables = [try Self.compared(path, MappingTable(copiedTo: path))]
        return
      }
      var found: [(String, MappingTable)] = []
      let files = try FolderFiles.paths(below: path).filter { $0.hasSuffix(".tsv") }
      for file in files {
        do throws(NoSuchTable) {
          let mapping = try MappingTable(copiedTo: file)
          found.append((file, mapping))
        } catch { unknown.append(error.name) }
      }
      tables = try found.map { try Self.compared($0, $1) }
      let seen = Set(tables.map(\.mapping))
      missing = MappingTable.allCases.filter { !seen.contains($0) }.map(\.file)
    }

    private static func compared(
      _ file: String, _ mapping: MappingTable
    ) throws -> (mapping: MappingTable, difference: TableDifference) {
      let bytes = try Input.read(file, limit: MappingTable.sizeLimit)
      do throws(Table.Malformed) {
        // Not within the tuple: Swift 6.3.1 loses values there when it optimises.
        let table = try Table(bytes)
        return (mapping, TableDifference(from: mapping.embedded, to: table))
      } catch { throw UnreadableTable(file: file) }
    }

    var isEqual: Bool { tables.allSatisfy(\.difference.isEmpty) && missing.isEmpty && unknown.isEmpty }

    var text: String {
      var lines = missing.map { "- \($0)" } + unknown.map { "+ \($0.plain)" }
      for (mapping, difference) in tables where !difference.isEmpty {
        lines.append(mapping.file)
        lines += difference.removed.map { "  - \(Self.line($0))" }
        lines += difference.changed.map { "  ~ \($0.id) \($0.column.plain): \($0.ours) -> \($0.theirs.plain)" }
        lines += difference.added.map { "  + \(Self.line($0))" }
      }
      return lines.map { "\($0)\n" }.joined()
    }

    private static func line(_ row: TableDifference.Row) -> String {
      "\(row.id) \(row.cells.joined(separator: " ").plain)"
    }

    var json: JSONObject {
      var object: JSONObject = [
        "equal": .bool(isEqual), "missing": .array(missing.map(JSONValue.string)),
        "unknown": .array(unknown.map(JSONValue.string)),
      ]
      object["tables"] = .array(
        tables.map { mapping, difference in
          [
            "table": .string(mapping.rawValue), "added": .array(difference.added.map(Self.json)),
            "removed": .array(difference.removed.map(Self.json)),
            "changed": .array(
              difference.changed.map { change in
                [
                  "id": .string(change.id), "column": .string(change.column), "ours": .string(change.ours),
                  "theirs": .string(change.theirs),
                ]
              }),
          ]
        })
      return object
    }

    private static func json(_ row: TableDifference.Row) -> JSONValue {
      ["id": .string(row.id), "cells": .array(row.cells.map(JSONValue.string))]
    }
  }
}

/// A copy that cannot be compared.
struct UnreadableTable: ExitStatusError, CustomStringConvertible {
  let file: String

  var exitStatus: ExitStatus { .failed }
  var description: String {
    "\(file.plain) is no table that can be read; \"switchyard mappings check \(file.plain)\" says why"
  }
}
