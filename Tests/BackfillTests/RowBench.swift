/// What a reader of rows says of a text, in values that can be compared.
struct ReadRow: Equatable {
  let line: Int
  let position: Int
  let raw: [UInt8]
  var user: [UInt8]?
  /// Nil when the row is rejected.
  var receipt: [UInt8]?
  var reason: String?

  init(_ row: Row) {
    line = row.line
    position = row.position
    raw = Array(row.raw)
    user = row.userID.map { Array($0) }
    switch row.content {
    case .receipt(let text): receipt = Array(text)
    case .rejected(let rejection): reason = rejection.code
    }
  }

  /// Reads `text`, which comes in pieces of the lengths that `piece` gives.
  static func all(
    of text: [UInt8], limits: RowLimits = RowLimits(), piece: () -> Int = { 1 << 20 },
    held: ((Int) -> Void)? = nil
  ) -> [ReadRow] {
    var rows: [ReadRow] = []
    var reader = RowReader(limits: limits)
    var start = 0
    func take(_ blocks: [Block]) { for block in blocks { block.forEachRow { rows.append(ReadRow($0)) } } }
    while start < text.count {
      let end = min(text.count, start + max(1, piece()))
      take(reader.blocks(adding: Array(text[start..<end])))
      start = end
      held?(reader.held)
    }
    take(reader.finish())
    return rows
  }
}
