import Database

extension [[SQLValue]] {
  /// Returns the rows sorted by the key's columns: two writers of the same rows then lock them in the same order.
  func inKeyOrder(columns: Int) -> Self {
    if count < 2 { return self }
    let keys = RowKeys(self, columns: columns)
    return indices.sorted { keys.key($0, isBefore: $1) }.map { self[$0] }
  }
}

extension [SQLValue] {
  /// Whether both rows have the same key, byte by byte, as the table and the order above compare texts.
  func hasKey(of other: Self, columns: Int) -> Bool {
    zip(self[..<columns], other[..<columns]).allSatisfy { a, b in
      switch (a, b) {
      case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
      default: a == b
      }
    }
  }
}

/// The keys of rows as numbers that sort as the columns do.
///
/// Computed once for each row: to compare values, the sort of a batch took longer than its write.
private struct RowKeys {
  private var words: [UInt64] = []
  private var bounds = [0]

  init(_ rows: [[SQLValue]], columns: Int) {
    words.reserveCapacity(rows.count * columns * 2)
    bounds.reserveCapacity(rows.count + 1)
    for row in rows {
      for column in row[..<columns] { append(column) }
      bounds.append(words.count)
    }
  }

  private mutating func append(_ column: SQLValue) {
    switch column {
    case .null: words.append(0)
    case .integer(let number): words.append(UInt64(bitPattern: number) ^ (1 << 63))
    case .unsigned(let number): words.append(number)
    case .text(var text):
      text.makeContiguousUTF8()
      append(text.utf8.span)
    case .bytes(let bytes): append(bytes.span)
    }
  }

  /// Appends eight bytes to a word.
  ///
  /// The last word is never full, so that a shorter key comes first.
  private mutating func append(_ bytes: Span<UInt8>) {
    var (word, count): (UInt64, UInt64) = (0, 0)
    for index in bytes.indices {
      word = word << 8 | UInt64(bytes[index])
      count += 1
      if count == 8 {
        words.append(word)
        (word, count) = (0, 0)
      }
    }
    words.append(count == 0 ? 0 : word << (64 - 8 * count))
  }

  func key(_ a: Int, isBefore b: Int) -> Bool {
    var (left, right) = (bounds[a], bounds[b])
    let (leftEnd, rightEnd) = (bounds[a + 1], bounds[b + 1])
    while left < leftEnd, right < rightEnd {
      if words[left] != words[right] { return words[left] < words[right] }
      left += 1
      right += 1
    }
    return rightEnd - right > leftEnd - left
  }
}
