import Backfill
import Receipts
import Tables

/// The rows of a table of any bytes, held against the plain reader of RFC 4180.
///
/// * What the RFC allows is read as the plain reader reads it, and nothing in it is doubted.
/// * In whatever pieces the bytes come, the rows are the same; none is lost and none is read twice.
/// * When a quote is lost or comes in, no receipt is given to another user.
/// * Rejects are a table that the plain reader reads, row for row, and read again they are the same bytes.
///
/// The first byte chooses the delimiter, the line end and whether the rest is the table or texts to write one of.
struct RowSubject {
  let choice: UInt8
  let rest: ArraySlice<UInt8>

  var delimiter: UInt8 { WrittenTable.delimiters[Int(choice % 3)] }
  var lineEnd: WrittenTable.LineEnd { WrittenTable.LineEnd.allCases[Int(choice / 3 % 4)] }

  func check() {
    if choice >= 128 { checkWritten() } else { checkRaw() }
  }

  /// Any bytes below a header.
  private func checkRaw() {
    if hasOtherLineEnd(behindHeader: rest) { return }
    let header = ["user_id", "comment", "receipt"].map { Array($0.utf8) }.joined(separator: [delimiter])
    let text = Array(header) + lineEnd.bytes + rest
    let rows = read(text, RowLimits(), piece: 1 << 20)
    if let plain = PlainTable(text, delimiter: delimiter, endsWithReturn: lineEnd == .carriageReturn) {
      let expected = plain.records.dropFirst().filter { !$0.isBlank }
      precondition(rows.map(\.position) == expected.map(\.range.lowerBound), "other rows than the plain reader's")
      precondition(rows.map(\.line) == expected.map(\.line), "other lines")
      var isBehindShort = false
      for (row, record) in zip(rows, expected) {
        // A short row may be the first part of a row with a line break, and the next row its rest.
        let isRow =
          record.fields.count == 3 && !isBehindShort && !(lineEnd == .carriageReturn && row.raw.first == 0x0A)
        isBehindShort = record.fields.count < 3
        precondition(row.raw == text[record.range], "another row")
        // A user id that is not UTF-8 is no user's: its row is rejected. A blank one names nobody.
        let userID = String(validating: record.fields[0], as: UTF8.self)
        let isRead = isRow && userID != nil
        let isNamed = isRead && userID?.allSatisfy(\.isWhitespace) == false
        precondition(row.userID.map(Array.init) == (isNamed ? record.fields[0] : nil), "another user")
        precondition(row.receipt.map(Array.init) == (isRead ? record.fields[2] : nil), "another receipt")
      }
    }
    let limits = choice % 2 == 0 ? RowLimits() : Self.small
    let whole = choice % 2 == 0 ? rows : read(text, limits, piece: 1 << 20)
    precondition(whole == read(text, limits, piece: 1 + rest.count % 97), "other rows when the bytes come in pieces")
    for (row, next) in zip(whole, whole.dropFirst()) {
      precondition(row.position + row.raw.count < next.position, "a byte is in two rows")
    }
    checkRejects(of: text)
  }

  /// Whether what follows the header's carriage return makes another line end of it: nobody can tell that from CR LF and
  /// CR CR LF.
  private func hasOtherLineEnd(behindHeader body: ArraySlice<UInt8>) -> Bool {
    lineEnd == .carriageReturn && (body.first == 0x0A || body.starts(with: [0x0D, 0x0A]))
  }

  /// So small that a short table meets them.
  private static let small: RowLimits = {
    var limits = RowLimits(row: 64)
    limits.lookahead = 48
    // Behind the header, so that the pieces are pieces of the rows.
    limits.beginning = 32
    return limits
  }()

  /// A table as it ought to be, with one quote too few or too many.
  private func checkWritten() {
    guard rest.count > 3 else { return }
    let (order, place) = (rest[rest.startIndex], Int(rest[rest.startIndex + 1]) << 8 | Int(rest[rest.startIndex + 2]))
    let columns = [
      ["user_id", "comment", "receipt"], ["comment", "user_id", "receipt"], ["user_id", "receipt", "comment"],
    ]
    var table = WrittenTable(columns: columns[Int(order % 3)], delimiter: delimiter, lineEnd: lineEnd)
    for (number, text) in rest.dropFirst(3).split(separator: 0xFF, omittingEmptySubsequences: false).enumerated() {
      let row = WrittenTable.Row(user: "u\(number)", receipt: "R\(number)")
      table.append(row, other: { _ in Array(text) }, isQuoted: { order >> (2 + $0) & 1 == 1 })
    }
    table.damage(order >= 128 ? .lost(place) : .added(place))
    // The quote that is lost may have been the first, before a line feed.
    if hasOtherLineEnd(behindHeader: table.text[table.body...]) { return }
    for row in read(table.text, RowLimits(), piece: 1 << 20) where table.plain == nil {
      guard let receipt = row.receipt else { continue }
      precondition(table.has(Array(receipt), of: row.userID.map { Array($0) }), "another user's receipt")
    }
    checkRejects(of: table.text)
  }

  /// All rows, rejected.
  private func checkRejects(of text: [UInt8]) {
    guard let (first, count) = rejects(of: text) else { return }
    guard let plain = PlainTable(first, delimiter: delimiter, endsWithReturn: lineEnd == .carriageReturn) else {
      preconditionFailure("the rejects are no table")
    }
    precondition(plain.records.count == count + 1, "other rows in the rejects")
    guard let (second, _) = rejects(of: first) else { preconditionFailure("no rejects of the rejects") }
    precondition(first == second, "other rejects of the rejects")
  }

  private func rejects(of text: [UInt8]) -> (text: [UInt8], count: Int)? {
    var (output, count): ([UInt8], Int) = ([], 0)
    for block in blocks(of: text, RowLimits(), piece: 1 << 20) {
      block.forEachRow { row in
        // As whoever reads the receipts: what was no row stays so, and no receipt is one.
        let reason = if case .rejected(let reason) = row.content { reason } else { RejectReason(.notBase64) }
        if output.isEmpty { output += Rejection.heading(of: block.format, isNamed: false) ?? [] }
        var formulas = FormulaCells()
        Rejection.append(row, reason, of: block, isNamed: false, &formulas, to: &output)
        count += 1
      }
    }
    return count == 0 ? nil : (output, count)
  }

  private func read(_ text: [UInt8], _ limits: RowLimits, piece: Int) -> [ReadRow] {
    var rows: [ReadRow] = []
    for block in blocks(of: text, limits, piece: piece) { block.forEachRow { rows.append(ReadRow($0)) } }
    return rows
  }

  private func blocks(of text: [UInt8], _ limits: RowLimits, piece: Int) -> [Block] {
    var reader = RowReader(limits: limits)
    var blocks: [Block] = []
    for start in stride(from: 0, to: text.count, by: piece) {
      blocks += reader.blocks(adding: Array(text[start..<min(text.count, start + piece)]))
    }
    return blocks + reader.finish()
  }
}

/// A row, to be compared.
private struct ReadRow: Equatable {
  let line: Int
  let position: Int
  let raw: ArraySlice<UInt8>
  let userID: ArraySlice<UInt8>?
  let receipt: ArraySlice<UInt8>?

  init(_ row: Row) {
    line = row.line
    position = row.position
    raw = row.raw
    userID = row.userID
    receipt = if case .receipt(let text) = row.content { text } else { nil }
  }
}
