/// The ranges of a header field's name and value: `Content-Length: 5`.
struct FieldLine {
  let name: Range<Int>
  /// The value without surrounding spaces and tabs.
  let value: Range<Int>

  /// Reads `line`, which is not empty and contains no control byte but tabs.
  ///
  /// A name ends at its colon: RFC 9112, 5.1 requires the rejection of a space before it, and 5.2 of a folded field.
  init(_ input: Span<UInt8>, _ line: Range<Int>) throws(RequestParseError) {
    guard !input[line.lowerBound].isBlank else { throw .foldedField }
    var colon = line.lowerBound
    while colon < line.upperBound, input[colon].isTokenCharacter { colon += 1 }
    guard colon < line.upperBound, input[colon] == UInt8(ascii: ":"), colon > line.lowerBound else {
      throw Self.fault(input, colon..<line.upperBound)
    }
    name = line.lowerBound..<colon
    var (start, end) = (colon + 1, line.upperBound)
    while start < end, input[start].isBlank { start += 1 }
    while end > start, input[end - 1].isBlank { end -= 1 }
    value = start..<end
  }

  /// Returns the fault of a name before `rest`.
  private static func fault(_ input: Span<UInt8>, _ rest: Range<Int>) -> RequestParseError {
    var index = rest.lowerBound
    while index < rest.upperBound, input[index].isBlank { index += 1 }
    let isSpaced = index > rest.lowerBound && index < rest.upperBound && input[index] == UInt8(ascii: ":")
    return isSpaced ? .spaceBeforeColon : .fieldName
  }
}
