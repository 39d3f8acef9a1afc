import CLinux
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

  /// The first place of `bytes` in these bounds; nil if there are no bytes to look for.
  ///
  /// Takes a time in proportion to the bytes, whatever they are: comparing at each place where the first byte stands would take
  /// minutes for a long text of one letter. The standard library's search of collections takes some hundred times as long.
  package func firstRange(of bytes: Span<UInt8>, from start: Int, before end: Int) -> Range<Int>? {
    precondition(start >= 0 && end <= count)
    guard bytes.count > 0, bytes.count <= end - start else { return nil }
    let place: Int? = unsafe withUnsafeBytes { text in
      unsafe bytes.withUnsafeBytes { wanted in
        guard let base = text.baseAddress, let sought = wanted.baseAddress,
          let found = unsafe memmem(base + start, end - start, sought, wanted.count)
        else { return nil }
        return unsafe UnsafeRawPointer(found) - base
      }
    }
    return place.map { $0..<($0 + bytes.count) }
  }

  /// The last place of `byte` in these bounds; eight bytes at a time.
  package func lastIndex(of byte: UInt8, from start: Int, before end: Int) -> Int? {
    precondition(start >= 0 && end <= count)
    let lowBits: UInt64 = 0x0101_0101_0101_0101
    let pattern = lowBits &* UInt64(byte)
    return unsafe withUnsafeBytes { bytes in
      var index = end
      while index - start >= 8 {
        let word = unsafe bytes.loadUnaligned(fromByteOffset: index - 8, as: UInt64.self) ^ pattern
        // Not zero when one of the eight bytes is.
        if (word &- lowBits) & ~word & (lowBits << 7) != 0 { break }
        index -= 8
      }
      while index > start {
        index -= 1
        if unsafe bytes[index] == byte { return index }
      }
      return nil
    }
  }
}
