/// A table as a writer of RFC 4180 writes it, row by row, in which whose receipt is whose is known.
package struct WrittenTable {
  package struct Row: Hashable {
    package let user: [UInt8]
    package let receipt: [UInt8]

    package init(user: String, receipt: String) {
      self.user = Array(user.utf8)
      self.receipt = Array(receipt.utf8)
    }
  }

  package enum LineEnd: CaseIterable, Sendable {
    case feed, both, carriageReturn, doubled

    package var bytes: [UInt8] {
      switch self {
      case .feed: [0x0A]
      case .both: [0x0D, 0x0A]
      case .carriageReturn: [0x0D]
      case .doubled: [0x0D, 0x0D, 0x0A]
      }
    }
  }

  /// What happens to one quote of a table.
  package enum Damage {
    /// The quote of this number is lost; of none if there are not so many.
    case lost(Int)
    /// One comes in, so many bytes behind the header.
    case added(Int)
  }

  package static let delimiters = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
  package static let quote = UInt8(ascii: "\"")

  package let columns: [String]
  package let delimiter: UInt8
  package let lineEnd: LineEnd
  package private(set) var rows: [Row] = []
  /// The header and the rows.
  package private(set) var text: [UInt8] = []
  /// Where the rows begin.
  package private(set) var body = 0

  /// - Parameter columns: `user_id`, `receipt` and others, in any order.
  package init(columns: [String], delimiter: UInt8, lineEnd: LineEnd, isQuoted: (Int) -> Bool = { _ in false }) {
    self.columns = columns
    self.delimiter = delimiter
    self.lineEnd = lineEnd
    append(columns.map { Array($0.utf8) }, isQuoted)
    body = text.count
  }

  /// Appends a row.
  ///
  /// - Parameters:
  ///   - other: what stands in a column other than `user_id` and `receipt`.
  ///   - isQuoted: whether a field of this number is quoted although it need not be.
  package mutating func append(_ row: Row, other: (Int) -> [UInt8], isQuoted: (Int) -> Bool) {
    rows.append(row)
    append(
      columns.enumerated().map { index, column in
        switch column {
        case "user_id": row.user
        case "receipt": row.receipt
        default: other(index)
        }
      }, isQuoted)
  }

  private mutating func append(_ fields: [[UInt8]], _ isQuoted: (Int) -> Bool) {
    for (index, field) in fields.enumerated() {
      if index > 0 { text.append(delimiter) }
      let isNeeded = field.contains { $0 == Self.quote || $0 == delimiter || $0 == 0x0A || $0 == 0x0D }
      let isAlone = fields.count == 1 && field.isEmpty
      text +=
        isNeeded || isAlone || isQuoted(index)
        ? [Self.quote] + field.flatMap { $0 == Self.quote ? [$0, $0] : [$0] } + [Self.quote] : field
    }
    text += lineEnd.bytes
  }

  /// Takes the last line end away.
  package mutating func removeLastLineEnd() { text.removeLast(lineEnd.bytes.count) }

  package mutating func damage(_ damage: Damage) {
    switch damage {
    case .lost(let number):
      let quotes = text.indices.dropFirst(body).filter { text[$0] == Self.quote }
      if !quotes.isEmpty { text.remove(at: quotes[number % quotes.count]) }
    case .added(let place): text.insert(Self.quote, at: body + place % (text.count - body + 1))
    }
  }

  /// As the plain reader reads it; nil when it is damaged in a way that RFC 4180 does not allow.
  package var plain: [PlainTable.Record]? {
    PlainTable(text, delimiter: delimiter, endsWithReturn: lineEnd == .carriageReturn)?.records
  }

  /// Whether the receipt is this user's, though a quote may have come into it.
  package func has(_ receipt: [UInt8], of user: [UInt8]?) -> Bool {
    rows.contains { $0.user == user && $0.receipt == receipt.filter { $0 != Self.quote } }
  }
}
