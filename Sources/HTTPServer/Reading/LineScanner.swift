/// Finds the end of a line in partial input, reading each byte once.
///
/// A line ends with CRLF and contains no other control byte than the tab. RFC 9112, 2.2 lets a reader accept a bare LF
/// as a line's end and a bare CR as a space, and readers differ in it.
struct LineScanner: Sendable {
  /// The number of bytes after the line's start that do not end it.
  private var scanned = 0

  /// Returns the range of the line that begins at `start`, without its CRLF; `nil` before its end has arrived.
  ///
  /// The error depends only on the bytes, not on their division: the first fault in their order.
  ///
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
