/// A table with everything in its texts: quotes, delimiters, line breaks, and what looks like rows of the same table.
package struct RandomTable {
  package struct Row {
    package let user: [UInt8]
    package let receipt: [UInt8]
  }

  package enum LineEnd: CaseIterable {
    case feed, both, carriageReturn
    package var bytes: [UInt8] {
      switch self {
      case .feed: [0x0A]
      case .both: [0x0D, 0x0A]
      case .carriageReturn: [0x0D]
      }
    }
  }

  package let delimiter: UInt8
  package let lineEnd: LineEnd
  package private(set) var rows: [Row] = []
  /// The header and the rows.
  package private(set) var text: [UInt8] = []
  /// Where the rows begin.
  package private(set) var body = 0

  private enum Quoting: CaseIterable { case whereNeeded, always, sometimes }

  /// - Parameters:
  ///   - count: how many rows.
  ///   - receipt: the receipt of a row, by its number.
  package init(
    count: Int, using random: inout some RandomNumberGenerator, receipt: (Int) -> String = { "MII\($0)receipt" }
  ) {
    delimiter = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")].randomElement(using: &random) ?? 0
    lineEnd = LineEnd.allCases.randomElement(using: &random) ?? .feed
    let quoting = Quoting.allCases.randomElement(using: &random) ?? .always
    let columns = (["user_id", "receipt"] + (0..<Int.random(in: 0...3, using: &random)).map { "comment\($0)" })
      .shuffled(using: &random)
    append(columns.map { Array($0.utf8) }, quoting, &random)
    body = text.count
    for number in 0..<count {
      let row = Row(user: Array("user-\(number)".utf8), receipt: Array(receipt(number).utf8))
      append(
        columns.map { column in
          switch column {
          case "user_id": row.user
          case "receipt": row.receipt
          default: comment(columns, &random)
          }
        }, quoting, &random)
      rows.append(row)
    }
    if Bool.random(using: &random) { text.removeLast(lineEnd.bytes.count) }
  }

  private func comment(_ columns: [String], _ random: inout some RandomNumberGenerator) -> [UInt8] {
    let separator = [delimiter]
    // A line that would be a row, were it one: a receipt for somebody else.
    let lookalike = columns.map { column -> [UInt8] in
      switch column {
      case "user_id": Array("victim".utf8)
      case "receipt": Array("stolen".utf8)
      default: Array("text".utf8)
      }
    }
    let pieces: [[UInt8]] = [
      Array("Dear team".utf8), [UInt8(ascii: "\"")], Array("\"\"".utf8), separator, lineEnd.bytes, [0x0A], [0x0D],
      [0x0D, 0x0A], Array(lookalike.joined(separator: separator)), Array("5\"".utf8), Array("ü€😀".utf8),
      separator + [UInt8(ascii: "\"")], [UInt8(ascii: "\"")] + separator, [0x20],
      lineEnd.bytes + lookalike.joined(separator: separator) + lineEnd.bytes,
    ]
    return (0..<Int.random(in: 0...6, using: &random)).flatMap { _ in pieces.randomElement(using: &random) ?? [] }
  }

  private mutating func append(_ fields: [[UInt8]], _ quoting: Quoting, _ random: inout some RandomNumberGenerator) {
    let quote = UInt8(ascii: "\"")
    for (index, field) in fields.enumerated() {
      if index > 0 { text.append(delimiter) }
      let isNeeded = field.contains { $0 == quote || $0 == delimiter || $0 == 0x0A || $0 == 0x0D }
      let isQuoted =
        isNeeded || quoting == .always || (quoting == .sometimes && Bool.random(using: &random))
      text += isQuoted ? [quote] + field.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote] : field
    }
    text += lineEnd.bytes
  }
}
