import Runtime

/// The columns of a table and how it is written.
package struct CSVColumns: Hashable, Sendable {
  package let dialect: CSVDialect
  /// How many fields a record has, the reason of an earlier rejection not counted.
  package let count: Int
  let app: Int?
  let userID: Int?
  let receipt: Int
  /// Of ids by which Apple can be asked where the receipt is of no use.
  private(set) var id: Int?
  /// The header as written, without its line end.
  ///
  /// For a table without one: the header that its rejects get.
  let header: [UInt8]
  /// Whether the last column is the reason of an earlier rejection.
  let endsWithReason: Bool
  /// Whether the input begins with a byte order mark, by which some spreadsheets know UTF-8.
  var hasByteOrderMark = false
  /// Whether the table has no header, so that its columns are guessed by its first row.
  private(set) var isGuessed = false

  /// The result of looking at the first record of an input.
  enum Beginning {
    /// The columns, and where the first row begins: behind the header, if there is one.
    case table(CSVColumns, body: Int)
    /// The first record does not end here.
    case unfinished
    case noTable
  }

  /// - Parameters:
  ///   - start: where the first record begins.
  ///   - isAll: whether `bytes` are the whole input.
  ///   - named: the headers that an operator named.
  static func told(
    by bytes: [UInt8], from start: Int, isAll: Bool, named: NamedColumns = NamedColumns()
  ) -> Beginning {
    var isUnfinished = false
    var guess: CSVColumns?
    for delimiter in CSVDialect.delimiters {
      let lineEnd = CSVDialect.LineEnd(ofFirstRecordIn: bytes, from: start, delimiter: delimiter)
      let dialect = CSVDialect(delimiter: delimiter, lineEnd: lineEnd ?? .lineFeed)
      var record = CSVRecord()
      record.read(bytes.span, from: start, before: bytes.count, dialect)
      let isWhole = lineEnd != nil || isAll
      guard record.isSound || !isWhole else { continue }
      let names = record.fields.map { $0.value(in: bytes) }
      if isWhole, let columns = Self(names: names, named, Array(bytes[record.content]), dialect) {
        return .table(columns, body: record.end)
      }
      let told = isWhole ? constants(in: bytes, from: start, isAll: isAll, dialect) : []
      guard names.count > 1, let columns = Self(guessing: names, constant: told ?? [], dialect) else { continue }
      if told == nil || !isWhole {
        isUnfinished = true
      } else if names[columns.receipt].allSatisfy(\.isBase64) {
        return .table(columns, body: start)
      } else if guess == nil {
        guess = columns
      }
    }
    return guess.map { .table($0, body: start) } ?? (isUnfinished ? .unfinished : .noTable)
  }

  private init(
    _ dialect: CSVDialect, count: Int, app: Int?, userID: Int?, receipt: Int, header: [UInt8], endsWithReason: Bool
  ) {
    self.dialect = dialect
    self.count = endsWithReason ? count - 1 : count
    self.app = app
    self.userID = userID
    self.receipt = receipt
    self.header = header
    self.endsWithReason = endsWithReason
  }

  /// By the names of a header; a table of one column has no delimiter.
  private init?(names: [ArraySlice<UInt8>], _ named: NamedColumns, _ header: [UInt8], _ dialect: CSVDialect) {
    guard
      let receipt = named.index(of: .receipt, in: names) ?? ColumnName.index(of: .receipt, in: names)
        ?? ColumnName.indexOfID(in: names)
    else { return nil }
    // A column that was named as the receipts' is not also taken for another, whatever it is called.
    func other(_ column: ColumnName) -> Int? {
      named.index(of: column, in: names).flatMap { $0 == receipt ? nil : $0 }
    }
    self.init(
      dialect, count: names.count, app: other(.app), userID: other(.userID), receipt: receipt, header: header,
      endsWithReason: names.last.flatMap { ColumnName($0) } == .reason)
    id = ColumnName.indexOfID(in: names).flatMap { [receipt, app, userID].contains($0) ? nil : $0 }
  }

  /// The rows of a table without a header that are looked at for a column of users, and their bytes, at most.
  private static let looked = (rows: 100, bytes: 2 << 20)
  /// In so many rows, or in all there are, one user alone is no user: it is what all rows have.
  private static let enough = 10

  /// The columns that name one user alone, as that of a platform; nil if more rows are needed to tell.
  private static func constants(
    in bytes: [UInt8], from start: Int, isAll: Bool, _ dialect: CSVDialect
  ) -> Set<Int>? {
    let end = min(bytes.count, start + looked.bytes)
    let endsThere = isAll && end == bytes.count
    var (record, index, count) = (CSVRecord(), start, 0)
    var told: [(user: ArraySlice<UInt8>?, count: Int, isConstant: Bool)] = []
    while index < end, count < looked.rows {
      record.read(bytes.span, from: index, before: end, dialect)
      // The last one may be cut.
      guard record.isSound, record.end < end || endsThere else { break }
      if count == 0 { told = record.fields.map { _ in (nil, 0, true) } }
      for (column, field) in record.fields.enumerated() where column < told.count && told[column].isConstant {
        guard let user = field.value(in: bytes).user else { continue }
        told[column].isConstant = told[column].user ?? user == user
        told[column].user = user
        told[column].count += 1
      }
      count += 1
      index = record.end
    }
    guard count == looked.rows || isAll || end < bytes.count else { return nil }
    let least = endsThere ? 2 : enough
    return Set(told.indices.filter { told[$0].isConstant && told[$0].count >= least })
  }

  /// By the first row: the longest field is the receipt, the first bundle id the app, the first of the others the user.
  ///
  /// None is the user if that one tells no users apart, or is the beginning of a data URI: any further one may be a date.
  ///
  /// - Parameter constant: columns that tell no users apart.
  private init?(guessing fields: [ArraySlice<UInt8>], constant: Set<Int>, _ dialect: CSVDialect) {
    guard let receipt = fields.indices.max(by: { fields[$0].count < fields[$1].count }), fields[receipt].count > 200
    else { return nil }
    // The semicolons of HTML's entities separate nothing.
    if dialect.delimiter == UInt8(ascii: ";"), fields.dropLast().allSatisfy(Self.endsWithinEntity) { return nil }
    let others = fields.indices.filter { $0 != receipt && !RejectReason.isKnown(fields[$0]) }
    let app = others.first { Self.isBundleID(fields[$0]) }
    let userID = others.first { $0 != app }
      .flatMap { constant.contains($0) || Self.endsInDataURI(fields[$0]) ? nil : $0 }
    let endsWithReason = fields.last.map(RejectReason.isKnown) ?? false
    let names = fields.indices.map { index in
      switch index {
      case receipt: "receipt"
      case app: "app"
      case userID: "user_id"
      default: endsWithReason && index == fields.count - 1 ? "reason" : "column\(index + 1)"
      }
    }
    let header = names.joined(separator: String(Unicode.Scalar(dialect.delimiter)))
    self.init(
      dialect, count: fields.count, app: app, userID: userID, receipt: receipt, header: Array(header.utf8),
      endsWithReason: endsWithReason)
    isGuessed = true
  }

  /// `data:application/octet-stream;base64`: what stands before the comma of a data URI.
  private static func endsInDataURI(_ field: ArraySlice<UInt8>) -> Bool {
    field.suffix(7).elementsEqual(";base64".utf8)
  }

  /// `…&#43` or `…&plus`: the beginning of an entity of HTML.
  static func endsWithinEntity(_ field: ArraySlice<UInt8>) -> Bool {
    guard let start = field.suffix(9).lastIndex(of: UInt8(ascii: "&")) else { return false }
    let name = field[(start + 1)...]
    let digits = name.first == UInt8(ascii: "#") ? name.dropFirst() : name
    return !digits.isEmpty && digits.allSatisfy(\.isBase64)
  }

  /// `com.example.app`: dots between words of letters, digits and hyphens, not all of it digits.
  static func isBundleID(_ field: ArraySlice<UInt8>) -> Bool {
    let words = field.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    func isWordByte(_ byte: UInt8) -> Bool { byte.isBase64 && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "+") }
    return words.count > 1 && words.allSatisfy { !$0.isEmpty && $0.allSatisfy(isWordByte) }
      && words[0].contains { $0 >= UInt8(ascii: "A") }
  }
}

extension CSVColumns {
  /// The fields of a record, split into the row's own and the reason of an earlier rejection.
  struct Fields {
    /// How many of the fields are the row's own.
    let count: Int
    let reason: RejectReason?
  }

  /// Splits off the reason of an earlier rejection.
  func split(_ fields: [CSVField], of bytes: [UInt8]) -> Fields {
    guard endsWithReason, let last = fields.last?.value(in: bytes) else {
      return Fields(count: fields.count, reason: nil)
    }
    if let reason = RejectReason(known: last) { return Fields(count: fields.count - 1, reason: reason) }
    // To mend a row, its reason may be emptied or deleted.
    return Fields(count: last.isBlank && fields.count == count + 1 ? count : fields.count, reason: nil)
  }

  /// Returns whether a record has too few fields, so that it may be the first part of a row with a line break.
  ///
  /// Not if it was rejected for good before: its neighbours were, too.
  func isShort(_ record: CSVRecord, of bytes: [UInt8]) -> Bool {
    guard record.fields.count < count + (endsWithReason ? 1 : 0) else { return false }
    let fields = split(record.fields, of: bytes)
    return fields.count < count && fields.reason?.stays != true
  }

  /// Returns whether a row may have `count` own fields: one more if the table's own last column is called `reason`.
  func allows(_ count: Int) -> Bool { count == self.count || (endsWithReason && count == self.count + 1) }
}
