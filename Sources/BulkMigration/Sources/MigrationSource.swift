package import Backfill
import JSON
package import Ledger
package import Runtime

/// Where a part of a job's rows is read; what is stored of it has no password in it.
package enum MigrationSource: Hashable, Sendable {
  case files(FileSource)
  case table(TableSource)

  /// What another build wrote, and this one cannot read.
  package struct Unknown: Error, CustomStringConvertible {
    package var description: String { "a source that this build cannot read; use the build that began the job" }
  }

  package init(stored text: String) throws(Unknown) {
    guard let json = (try? JSONReader.read(Array(text.utf8)))?.object else { throw Unknown() }
    if json["kind"] == "files", let files = FileSource(json) {
      self = .files(files)
    } else if json["kind"] == "table", let table = TableSource(json) {
      self = .table(table)
    } else {
      throw Unknown()
    }
  }

  package var stored: String {
    switch self {
    case .files(let files): String(decoding: files.json.encoded(), as: UTF8.self)
    case .table(let table): String(decoding: table.json.encoded(), as: UTF8.self)
    }
  }

  /// For people.
  package var name: String {
    switch self {
    case .files(let files): files.name
    case .table(let table): table.name
    }
  }
}

/// A file, or those of a folder from one path to another.
package struct FileSource: Hashable, Sendable {
  /// Absolute.
  package let path: String
  package let isFolder: Bool
  /// Of a folder: the first and the last of its files that are part of it.
  let first: String?
  let last: String?
  /// Of a file: its size when the job began; a file of another size is not read on.
  let size: Int64?
  /// Of a file: when it had been changed last, in seconds; nil in a job of a build that did not note it.
  let modifiedAt: Int64?
  /// The columns that an operator named.
  let columns: NamedColumns

  /// So many parts has a folder at most; processes share them.
  private static let mostParts = 256
  /// A part of a folder has at least so many files.
  private static let leastFiles = 64

  init(
    path: String, isFolder: Bool, first: String? = nil, last: String? = nil, size: Int64?, modifiedAt: Int64? = nil,
    columns: NamedColumns = NamedColumns()
  ) {
    self.path = path
    self.isFolder = isFolder
    self.first = first
    self.last = last
    self.size = size
    self.modifiedAt = modifiedAt
    self.columns = columns
  }

  init?(_ json: JSONObject) {
    guard let path = json["path"]?.string, let isFolder = json["isFolder"]?.bool else { return nil }
    let named = json["columns"]?.object ?? [:]
    self.init(
      path: path, isFolder: isFolder, first: json["first"]?.string, last: json["last"]?.string,
      size: json["size"]?.integer, modifiedAt: json["modifiedAt"]?.integer,
      columns: NamedColumns(
        receipt: named["receipt"]?.string, userID: named["userId"]?.string, app: named["app"]?.string))
  }

  var json: JSONObject {
    var json: JSONObject = ["kind": "files", "path": .string(path), "isFolder": .bool(isFolder)]
    json["first"] = first.map(JSONValue.string)
    json["last"] = last.map(JSONValue.string)
    json["size"] = size.map(JSONValue.integer)
    json["modifiedAt"] = modifiedAt.map(JSONValue.integer)
    if !columns.isEmpty {
      var named: JSONObject = [:]
      named["receipt"] = columns.receipt.map(JSONValue.string)
      named["userId"] = columns.userID.map(JSONValue.string)
      named["app"] = columns.app.map(JSONValue.string)
      json["columns"] = .object(named)
    }
    return json
  }

  var name: String { path }

  /// The parts of a file or folder, which has to be there.
  ///
  /// - Parameter columns: those that an operator named.
  package static func parts(
    of path: String, columns: NamedColumns = NamedColumns()
  ) throws(FileError) -> [MigrationJobTable.NewPart] {
    let path = FileMetadata.absolute(path)
    guard let facts = FileMetadata(path) else { throw FileError.missing(path) }
    guard facts.isDirectory else {
      // Opened once, so that what cannot be read is said now.
      _ = try InputFile(path)
      let source = FileSource(
        path: path, isFolder: false, size: facts.size, modifiedAt: facts.modifiedAt, columns: columns)
      return [part(source, size: facts.size)]
    }
    let files = try DirectoryListing.paths(below: path)
    let count = max(leastFiles, (files.count + mostParts - 1) / mostParts)
    return stride(from: 0, to: files.count, by: count).map { start in
      let some = files[start..<min(start + count, files.count)]
      let size = some.reduce(0) { $0 + (FileMetadata($1)?.size ?? 0) }
      return part(
        FileSource(
          path: path, isFolder: true, first: some.first, last: some.last, size: nil, columns: columns), size: size)
    }
  }

  /// The folders of a plan whose files are not those that it was made of, as far as their names and sizes tell.
  ///
  /// A file outside of a folder is compared when it is opened.
  package static func changedFolders(since planned: [MigrationJobTable.NewPart]) throws -> [String] {
    struct Facts: Hashable {
      let source: MigrationSource
      let size: Int64
    }
    func facts(_ parts: [MigrationJobTable.NewPart]) throws -> Set<Facts> {
      var all: Set<Facts> = []
      for part in parts { all.insert(Facts(source: try MigrationSource(stored: part.source), size: part.size ?? 0)) }
      return all
    }
    var folders: [FileSource: [MigrationJobTable.NewPart]] = [:]
    for part in planned {
      guard case .files(let files) = try MigrationSource(stored: part.source), files.isFolder else { continue }
      let folder = FileSource(path: files.path, isFolder: true, size: nil, columns: files.columns)
      folders[folder, default: []].append(part)
    }
    return try folders.filter { folder, parts in
      try facts(parts) != facts(self.parts(of: folder.path, columns: folder.columns))
    }.map(\.key.path).sorted()
  }

  private static func part(_ source: FileSource, size: Int64) -> MigrationJobTable.NewPart {
    MigrationJobTable.NewPart(source: MigrationSource.files(source).stored, size: size)
  }

  /// The files to be read, those before `file` left out.
  func files(from file: String?) throws(FileError) -> [String] {
    guard isFolder else { return [path] }
    func isWithin(_ path: String) -> Bool {
      let bytes = path.utf8
      if let first, bytes.lexicographicallyPrecedes(first.utf8) { return false }
      if let last, last.utf8.lexicographicallyPrecedes(bytes) { return false }
      if let file, bytes.lexicographicallyPrecedes(file.utf8) { return false }
      return true
    }
    return try DirectoryListing.paths(below: path).filter(isWithin)
  }
}
