package import Backfill
package import Database
package import Ledger
package import Runtime
package import Signing

/// Opens the sources of a job once, with exactly what is stored of them, before the job is written.
package enum SourceCheck {
  /// Why a job could never read a source, and what to give.
  package struct Flaw: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    /// - Parameter hasPassword: whether the database was given one.
    package init(_ error: DatabaseError, of name: String, hasPassword: Bool) {
      guard error.code == .accessDenied else {
        self.init("\(name) cannot be read: \(error.detail)")
        return
      }
      let password = hasPassword ? "with this password" : "without a password"
      self.init(
        """
        \(name) cannot be read \(password): \(error.detail). Set \
        SWITCHYARD_SOURCE_DATABASE=mysql://USER:PASSWORD@HOST/NAME, with an account that may SELECT from the table
        """)
    }
  }

  /// Sources that have no row at all: a dump that failed looks like that.
  package struct Empty: ExitStatusError, Hashable, CustomStringConvertible {
    /// Files, folders and tables, as people know them.
    let names: [String]
    /// Tables of which no row meets the condition.
    let unmet: [String]

    package var exitStatus: ExitStatus { .failed }
    package var description: String {
      var text = unmet.map { "No row of table \(SafeText.escaped($0, limit: 256)) matches --where." }
      if !names.isEmpty {
        let list = SafeText.escaped(names.joined(separator: ", "), limit: SourceCheck.longestList)
        text.insert("\(list) \(names.count == 1 ? "has" : "have") no rows. Check the export.", at: 0)
      }
      return text.joined(separator: " ")
    }
  }

  /// Reads a page of each table and the beginning of each file, of a folder's part the first file.
  ///
  /// `Empty` if a source has no row; of a folder some files may have none.
  ///
  /// - Parameters:
  ///   - names: what the operator called the files and folders, by their absolute paths.
  ///   - keys: opens the password of a table's database, if there is one.
  /// - Returns: the columns of the files, by the sources of their parts.
  package static func columns(
    of parts: [MigrationJobTable.NewPart], named names: [String: String] = [:], _ keys: () throws -> Keyring
  ) async throws -> [String: InputColumns] {
    var columns: [String: InputColumns] = [:]
    // By path: the parts of a folder are one source, and an empty folder has none.
    var hasRows = names.mapValues { _ in false }
    var (empty, unmet): (Set<String>, [String]) = ([], [])
    for part in parts {
      switch try MigrationSource(stored: part.source) {
      case .files(let files):
        columns[part.source] = try await self.columns(of: files)
        if hasRows[files.path] != true { hasRows[files.path] = try await self.hasRows(files) }
      case .table(let table):
        if try await read(table, part.sealed, keys) { continue }
        if table.condition == nil { empty.insert("table \(table.table)") } else { unmet.append(table.table) }
      }
    }
    empty.formUnion(hasRows.filter { !$0.value }.map { names[$0.key] ?? $0.key })
    if parts.isEmpty, empty.isEmpty { empty = ["The migration"] }
    guard empty.isEmpty, unmet.isEmpty else { throw Empty(names: empty.sorted(), unmet: unmet) }
    return columns
  }

  private static func hasRows(_ files: FileSource) async throws -> Bool {
    var batches = try FileBatches(files, from: .start)
    while let batch = try await batches.next() {
      guard case .block(let block) = batch.content else { return true }
      var hasRow = false
      block.forEachRow { row in if row.raw.contains(where: { $0 > 0x20 }) { hasRow = true } }
      if hasRow { return true }
    }
    return false
  }

  /// Whether it has a row.
  private static func read(
    _ table: TableSource, _ sealed: [UInt8]?, _ keys: () throws -> Keyring
  ) async throws -> Bool {
    let configuration = try table.configuration(sealed: sealed, sealed == nil ? nil : keys())
    do {
      var batches = try await TableBatches(table, configuration, from: .start, mostRows: 1)
      let result: Result<SourceBatch?, any Error>
      do { result = .success(try await batches.next()) } catch { result = .failure(error) }
      await batches.close()
      return try result.get() != nil
    } catch let error as DatabaseError {
      throw Flaw(error, of: table.name, hasPassword: sealed != nil)
    }
  }

  fileprivate static let longestList = 2_000

  /// Nil where the first file has no rows, or is damaged: the job says so of each such file.
  private static func columns(of files: FileSource) async throws -> InputColumns? {
    var batches = try FileBatches(files, from: .start)
    guard let batch = try await batches.next(), case .block(let block) = batch.content else { return nil }
    let (found, path) = (InputColumns(block), block.file ?? files.path)
    _ = try hasNamed(found, of: files, at: path)
    if found.format == .receiptLines, !found.names.isEmpty {
      throw Flaw(
        """
        \(path) has no column with a known name for receipts or ids. \(found.told) Add --column receipt=NAME, or remove \
        the first line if it is not a header.
        """)
    }
    return found
  }

  /// Whether a file has every column that an operator named; a flaw where its header lacks one.
  static func hasNamed(_ found: InputColumns, of files: FileSource, at path: String) throws(Flaw) -> Bool {
    let (named, names) = (files.columns, found.isGuessed ? [] : found.names)
    var hasAll = true
    for (name, option) in [(named.receipt, "receipt"), (named.userID, "user"), (named.app, "app")] {
      guard let name, !NamedColumns.contains(name, in: names) else { continue }
      // A folder may hold files without columns beside those that have some, and an object may lack what others have.
      guard (files.isFolder && names.isEmpty) || found.hasObjects else {
        throw Flaw("--column \(option)=\(name): \(path) has no such column. \(found.told)")
      }
      hasAll = false
    }
    return hasAll
  }
}

extension InputColumns {
  /// For people: the headers that it has.
  fileprivate var told: String {
    guard !names.isEmpty, !isGuessed else { return "It has no header." }
    return "Its columns: \(SafeText.escaped(names.joined(separator: ", "), limit: SourceCheck.longestList))."
  }
}
