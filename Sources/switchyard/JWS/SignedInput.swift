import JSON

/// The input to verify: a bare JWS, a body `{"signedPayload": …}`, or one of either per line.
struct SignedInput {
  /// One JWS, or the reason why it is missing.
  struct Item {
    /// The first line, from 1.
    let line: Int
    let jws: Result<[UInt8], Problem>
  }

  /// The reason why a line has no JWS: a code as stable as those of verification.
  struct Problem: Error {
    enum Code: String {
      case notJSON
      /// JSON without `signedPayload`.
      case noSignedPayload
    }

    let code: Code
    let detail: String
  }

  let items: [Item]

  /// Empty if `bytes` contain only white space.
  init(_ bytes: [UInt8]) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Self.trimmed)
    let filled = lines.enumerated().filter { !$0.element.isEmpty }
    if filled.count > 1, let first = filled.first, first.element.first == UInt8(ascii: "{"),
      (try? JSONReader.read(Array(first.element))) == nil
    {
      // An indented body over several lines.
      items = [Item(line: first.offset + 1, jws: Self.jws(bytes[...]))]
    } else {
      items = filled.map { Item(line: $0.offset + 1, jws: Self.jws($0.element)) }
    }
  }

  private static func jws(_ text: ArraySlice<UInt8>) -> Result<[UInt8], Problem> {
    guard let first = trimmed(text).first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
      return .success(Array(trimmed(text)))
    }
    do throws(JSONError) {
      guard let jws = try JSONReader.read(Array(text)).object?["signedPayload"]?.string else {
        return .failure(Problem(code: .noSignedPayload, detail: "JSON, but no object with a signedPayload"))
      }
      return .success(Array(jws.utf8))
    } catch {
      return .failure(Problem(code: .notJSON, detail: "no acceptable JSON: \(error)"))
    }
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
    let start = text.drop(while: isSpace)
    guard let last = start.lastIndex(where: { !isSpace($0) }) else { return start[start.startIndex..<start.startIndex] }
    return start[...last]
  }
}
