import JSON

/// The columns that an input has and what they are read as, told by its first block.
package struct InputColumns: Hashable, Sendable {
  package let format: RowFormat
  /// The headers of a table, or the members of JSON objects.
  ///
  /// Of an input that is read as one receipt a line: the cells of its first line, if that looks like a header.
  package private(set) var names: [String] = []
  /// Nil where no column is known to hold receipts.
  package private(set) var receipt: String?
  package private(set) var userID: String?
  package private(set) var app: String?
  /// Ids by which Apple is asked where the receipt is of no use.
  package private(set) var id: String?
  /// Whether the columns of a table are guessed by its first row, since it has no header.
  package private(set) var isGuessed = false

  /// How many rows are looked at for members of JSON objects.
  private static let rows = 100

  package init(_ block: Block) {
    format = block.format
    switch block.format {
    case .csv(let columns):
      names = columns.names
      isGuessed = columns.isGuessed
      receipt = names[columns.receipt]
      userID = columns.userID.map { [names] in names[$0] }
      app = columns.app.map { [names] in names[$0] }
      id = columns.id.map { [names] in names[$0] }
    case .jsonLines, .jsonArray: takeMembers(of: block)
    case .receiptLines:
      var first: ArraySlice<UInt8>?
      block.forEachRow { row in if first == nil, !row.raw.isBlank { first = row.raw } }
      names = first.flatMap { CSVColumns.header(in: $0) } ?? []
    case .wholeFile: break
    }
  }

  /// Whether it has JSON objects, of which one may lack a member that others have.
  package var hasObjects: Bool {
    switch format {
    case .jsonLines, .jsonArray: true
    case .csv, .receiptLines, .wholeFile: false
    }
  }

  /// The columns that are not read.
  package var unread: [String] {
    let read = [receipt, userID, app, id]
    return names.filter { name in !read.contains(name) && ColumnName(name.utf8) != .reason }
  }

  private mutating func takeMembers(of block: Block) {
    var (count, members, seen) = (0, [String](), Set<String>())
    block.forEachRow { row in
      guard count < Self.rows, let object = row.object else { return }
      count += 1
      for member in object.members where seen.insert(member.key).inserted { members.append(member.key) }
    }
    var best: [ColumnName: (name: String, rank: Int)] = [:]
    for name in members {
      guard let (column, rank) = block.named.ranked(name), rank < best[column]?.rank ?? .max else { continue }
      best[column] = (name, rank)
    }
    names = members
    (receipt, userID, app) = (best[.receipt]?.name, best[.userID]?.name, best[.app]?.name)
    id =
      members.filter { ![receipt, userID, app].contains($0) }
      .compactMap { name in ColumnName.rankOfID(name.utf8).map { (rank: $0, name: name) } }.min { $0.rank < $1.rank }?
      .name
  }
}

extension CSVColumns {
  /// The names in the header; of a table without one, those that its rejects get.
  fileprivate var names: [String] {
    let bytes = header
    var record = CSVRecord()
    record.read(bytes.span, from: 0, before: bytes.count, dialect)
    return record.fields.map { String(decoding: $0.value(in: bytes), as: UTF8.self) }
  }

  /// Returns the cells of a line that looks like the header of a table; nil for any other line.
  ///
  /// Several short cells, each with a letter, and none of them a reason of a rejected line or the end of an entity.
  fileprivate static func header(in line: ArraySlice<UInt8>) -> [String]? {
    guard line.count <= longestHeader else { return nil }
    let bytes = Array(line)
    for delimiter in CSVDialect.delimiters {
      let dialect = CSVDialect(delimiter: delimiter, lineEnd: .lineFeed)
      var record = CSVRecord()
      record.read(bytes.span, from: 0, before: bytes.count, dialect)
      guard record.isSound, record.fields.count > 1 else { continue }
      let cells = record.fields.map { $0.value(in: bytes) }
      if cells.allSatisfy(isHeader), delimiter != UInt8(ascii: ";") || !cells.contains(where: endsWithinEntity) {
        return cells.map { String(decoding: $0, as: UTF8.self) }
      }
    }
    return nil
  }

  private static let longestHeader = 2_000

  private static func isHeader(_ cell: ArraySlice<UInt8>) -> Bool {
    (1...64).contains(cell.count) && !RejectReason.isKnown(cell)
      && String(decoding: cell, as: UTF8.self).contains(where: \.isLetter)
  }
}
