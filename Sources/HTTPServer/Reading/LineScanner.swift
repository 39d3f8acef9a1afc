/// Finds the end of a line in bytes that arrive in parts, looking at each byte once.
///
/// A line ends with CRLF and contains no other control byte than the tab: RFC 9112, 2.2 lets a reader take a bare LF for
/// a line's end and a bare CR for a space, and readers differ in it.
struct LineScanner: Sendable {
  /// How many bytes after the line's start are known not to end it.
  private var scanned = 0

  /// Returns where the line that begins at `start` lies, without its CRLF; nil when its end has not arrived.
  ///
  /// What is thrown depends on the bytes alone, not on how they were divided: the first fault in their order.
  /// - Parameter limit: the most bytes a line may have; `tooLong` is thrown at the first byte beyond.
  mutating func line(
    in input: Span<UInt8>, from start: Int, limit: Int, tooLong: RequestParseError
  ) throws(RequestParseError) -> Range<Int>? {
    var index = start + scanned
    while index < input.count {
      let byte = input[index]
      if byte == Self.carriageReturn {
        guard index + 1 < input.count else { break }
        guard input[index + 1] == Self.lineFeed else { throw .bareCarriageReturn }
        scanned = 0
        return start..<index
      }
      guard (byte >= 0x20 && byte != 0x7F) || byte == 0x09 else {
        throw byte == Self.lineFeed ? .bareLineFeed : .controlByte
      }
      guard index - start < limit else { throw tooLong }
      index += 1
    }
    scanned = index - start
    return nil
  }

  static let carriageReturn: UInt8 = 0x0D
  static let lineFeed: UInt8 = 0x0A
}
