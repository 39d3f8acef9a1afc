import Glibc

/// Looks for bytes in large texts.
extension Span<UInt8> {
  /// The first place of `byte` in these bounds; with the C library's search, several times as fast as a loop.
  package func firstIndex(of byte: UInt8, from start: Int, before end: Int) -> Int? {
    precondition(start >= 0 && end <= count)
    guard start < end else { return nil }
    return unsafe withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress, let found = unsafe memchr(base + start, Int32(byte), end - start)
      else { return nil }
      return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }
  }

  /// The last place of `byte` in these bounds.
  package func lastIndex(of byte: UInt8, from start: Int, before end: Int) -> Int? {
    precondition(start >= 0 && end <= count)
    var index = end
    while index > start {
      index -= 1
      if self[index] == byte { return index }
    }
    return nil
  }
}
