extension WrittenTable {
  /// A table with everything in its texts: quotes, delimiters, line breaks, and what looks like rows of the same table.
  ///
  /// - Parameters:
  ///   - count: how many rows.
  ///   - receipt: the receipt of a row, by its number.
  package static func random(
    count: Int, using generator: inout some RandomNumberGenerator, receipt: (Int) -> String = { "MII\($0)receipt" }
  ) -> Self {
    let columns = ["user_id", "receipt"] + (0..<Int.random(in: 0...3, using: &generator)).map { "comment\($0)" }
    // Fields that need no quotes have none, have some all the same, or have them now and then.
    let quoted: Double = [0, 1, 0.5].randomElement(using: &generator) ?? 0
    var table = Self(
      columns: columns.shuffled(using: &generator), delimiter: delimiters.randomElement(using: &generator) ?? 0,
      lineEnd: LineEnd.allCases.randomElement(using: &generator) ?? .feed, isQuoted: { _ in quoted == 1 })
    let pieces = table.pieces
    for number in 0..<count {
      var others: [[UInt8]] = []
      var quotes: [Bool] = []
      for _ in columns {
        others.append(
          (0..<Int.random(in: 0...6, using: &generator)).flatMap { _ in pieces.randomElement(using: &generator) ?? [] })
        quotes.append(Double.random(in: 0..<1, using: &generator) < quoted)
      }
      let row = Row(user: "user-\(number)", receipt: receipt(number))
      table.append(row, other: { others[$0] }, isQuoted: { quotes[$0] })
    }
    if Bool.random(using: &generator) { table.removeLastLineEnd() }
    return table
  }

  /// What texts are made of.
  private var pieces: [[UInt8]] {
    // A line that would be a row, were it one: a receipt for somebody else.
    let lookalike = columns.map { column in
      switch column {
      case "user_id": Array("victim".utf8)
      case "receipt": Array("stolen".utf8)
      default: Array("text".utf8)
      }
    }.joined(separator: [delimiter])
    let quote = [Self.quote]
    return [
      Array("Dear team".utf8), quote, quote + quote, [delimiter], lineEnd.bytes, [0x0A], [0x0D], [0x0D, 0x0A],
      Array(lookalike), Array("5".utf8) + quote, Array("ü€😀".utf8), [delimiter] + quote, quote + [delimiter], [0x20],
      lineEnd.bytes + lookalike + lineEnd.bytes,
    ]
  }
}
