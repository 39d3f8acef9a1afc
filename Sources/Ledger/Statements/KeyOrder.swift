import Database

extension [[SQLValue]] {
  /// Sorted by the key's columns: two writers that touch the same rows then lock them in the same order.
  func inKeyOrder(columns: Int) -> Self {
    if count < 2 { return self }
    return map { (key: RowKey($0[..<columns]), row: $0) }.sorted { $0.key < $1.key }.map(\.row)
  }
}

/// The columns of a key as numbers that sort as the columns do.
///
/// Made once for each row: compared value by value, the rows of a batch took longer to sort than to write down.
private struct RowKey: Comparable {
  private var words: [UInt64] = []

  init(_ columns: ArraySlice<SQLValue>) {
    for column in columns {
      switch column {
      case .null: words.append(0)
      case .integer(let number): words.append(UInt64(bitPattern: number) ^ (1 << 63))
      case .unsigned(let number): words.append(number)
      case .text(let text): append(text.utf8)
      case .bytes(let bytes): append(bytes)
      }
    }
  }

  /// Eight to a word; the last one is never full, so that what is shorter comes first.
  private mutating func append(_ bytes: some Sequence<UInt8>) {
    var (word, count): (UInt64, UInt64) = (0, 0)
    for byte in bytes {
      word = word << 8 | UInt64(byte)
      count += 1
      if count == 8 {
        words.append(word)
        (word, count) = (0, 0)
      }
    }
    words.append(count == 0 ? 0 : word << (64 - 8 * count))
  }

  static func < (a: Self, b: Self) -> Bool {
    for place in 0..<min(a.words.count, b.words.count) where a.words[place] != b.words[place] {
      return a.words[place] < b.words[place]
    }
    return a.words.count < b.words.count
  }
}
