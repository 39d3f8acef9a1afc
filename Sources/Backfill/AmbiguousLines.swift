import Runtime

/// Lines of a table that are rejected because a quote is missing or extra, so that its rows cannot be told apart.
package struct AmbiguousLines: Hashable, Sendable {
  /// The file of a folder; nil when there is only one.
  package let file: String?
  /// The first of them, from 1.
  package let first: Int
  package let last: Int
}

extension Block {
  /// The doubtful lines in this block.
  var doubtfulLines: [AmbiguousLines] {
    guard case .csv(let columns) = format, pieces.contains(where: { $0.kind == .fragments }) else { return [] }
    let span = bytes.span
    var line = self.line
    var found: [AmbiguousLines] = []
    for piece in pieces {
      let first = line
      var index = piece.range.lowerBound
      while let end = span.firstIndex(of: columns.dialect.lastOfLine, from: index, before: piece.range.upperBound) {
        line += 1
        index = end + 1
      }
      // The input's last line may have no end.
      let last = index == piece.range.upperBound ? line - 1 : line
      if piece.kind == .fragments { found.append(AmbiguousLines(file: file, first: first, last: last)) }
    }
    return found
  }
}
