import Runtime

/// Writes the rejected rows of a table as a table with one more column, the reason.
///
/// Fields keep their bytes and are quoted where RFC 4180 requires it, so that other programs read the same rows.
struct CSVRejection {
  private let columns: CSVColumns
  private var dialect: CSVDialect { columns.dialect }

  init(_ columns: CSVColumns) { self.columns = columns }

  var heading: [UInt8] {
    let mark: [UInt8] = columns.hasByteOrderMark ? [0xEF, 0xBB, 0xBF] : []
    let reason = columns.endsWithReason ? [] : [dialect.delimiter] + Array("reason".utf8)
    return mark + columns.header + reason + dialect.lineEnd.bytes
  }

  func append(_ row: Row, _ reason: RejectReason, _ formulas: inout FormulaCells, to output: inout [UInt8]) {
    let bytes = Array(row.raw)
    let fields = row.isWhole ? fields(of: bytes) : pieces(of: bytes)
    let areQuoted = fields.map { formulas.take(bytes[$0.range]) }
    if row.isWhole, !columns.endsWithReason, isPlain(row.raw), !areQuoted.contains(true) {
      output.append(contentsOf: row.raw)
      output.append(dialect.delimiter)
    } else {
      for (field, isQuoted) in zip(fields, areQuoted) {
        append(field, isQuoted ? [UInt8(ascii: "'")] : [], of: bytes, to: &output)
        output.append(dialect.delimiter)
      }
    }
    output.append(contentsOf: reason.code.utf8)
    output.append(contentsOf: dialect.lineEnd.bytes)
  }

  /// Returns whether the row has no quotes and no line breaks and can be written unchanged.
  private func isPlain(_ row: ArraySlice<UInt8>) -> Bool {
    let bytes = row.span
    return [CSVDialect.quote, CSVDialect.lineFeed, CSVDialect.carriageReturn].allSatisfy { byte in
      bytes.firstIndex(of: byte, from: 0, before: bytes.count) == nil
    }
  }

  /// The row's own fields.
  private func fields(of bytes: [UInt8]) -> [CSVField] {
    var record = CSVRecord()
    record.read(bytes.span, from: 0, before: bytes.count, dialect)
    return Array(record.fields.prefix(columns.split(record.fields, of: bytes).count))
  }

  /// Splits a line at its delimiters, ignoring quotes.
  private func pieces(of bytes: [UInt8]) -> [CSVField] {
    bytes.split(separator: dialect.delimiter, omittingEmptySubsequences: false).map { CSVField($0.indices) }
  }

  private func append(_ field: CSVField, _ mark: [UInt8], of bytes: [UInt8], to output: inout [UInt8]) {
    if field.isQuoted {
      output.append(CSVDialect.quote)
      output.append(contentsOf: mark)
      output.append(contentsOf: bytes[field.range])
      output.append(CSVDialect.quote)
    } else {
      OutputFormat.append(field: mark[...] + bytes[field.range], delimiter: dialect.delimiter, to: &output)
    }
  }
}
