import Backfill
package import Ledger
import Runtime

/// Looks for the columns that an operator named at the beginning of each file, before a job is written.
///
/// Where no column was named no file is opened: the plan shows which columns were found by their usual names.
package struct HeaderCheck: Sendable {
  /// Files that were looked at.
  package private(set) var count = 0
  /// Files that are not refused although they lack such a column: in a folder those without a header, and JSON objects.
  package private(set) var lacking = 0
  /// The first of them.
  package private(set) var example: String?
  /// Whether every file was looked at.
  package private(set) var isWhole = true

  /// How many files are looked at, at most.
  package static let mostFiles = 1_000
  /// What is read of a file, in bytes, unless its first row is longer.
  private static let beginning = 64 << 10

  /// `SourceCheck.Flaw` for a file with a header that lacks such a column.
  package init(_ parts: [MigrationJobTable.NewPart], atMost most: Int = Self.mostFiles) async throws {
    for part in parts {
      guard case .files(let files) = try MigrationSource(stored: part.source), !files.columns.isEmpty else { continue }
      for path in try files.files(from: nil) {
        guard count < most else {
          isWhole = false
          return
        }
        try Task.checkCancellation()
        count += 1
        guard let found = try await Self.columns(of: path, files.columns) else { continue }
        if try !SourceCheck.hasNamed(found, of: files, at: path) {
          lacking += 1
          example = example ?? path
        }
      }
    }
  }

  /// What to know of files that may have no such column; nil if nothing.
  package var text: String? {
    var text: [String] = []
    if lacking > 0 {
      let named = example.map { SafeText.escaped($0, limit: 1_000) } ?? ""
      let files = lacking == 1 ? named : "\(lacking) files, \(named) among them,"
      text.append(
        """
        The first rows of \(files) do not have every column or member that --column names. Rows without it are read \
        without it. Check the spelling.
        """)
    }
    if !isWhole {
      text.append(
        """
        Only the first \(count) files were checked for the columns that --column names. In later files rows without one are \
        read without it.
        """)
    }
    return text.isEmpty ? nil : text.joined(separator: " ")
  }

  /// Nil for a file without rows, and for one that is damaged: the job says so of each.
  private static func columns(of path: String, _ named: NamedColumns) async throws -> InputColumns? {
    let reader = InputReader(
      files: [path], isFolder: true, named: named, chunk: beginning, progress: ExtractionProgress())
    do { return try await reader.next().map { InputColumns($0) } } catch let error where InputReader.isDamage(error) {
      return nil
    }
  }
}
