import JSON

/// What was handed in to be verified, as the JWS it holds: a bare one, a body `{"signedPayload": …}`, or one of either
/// a line.
struct SignedInput {
  /// One JWS, or why there is none.
  struct Item {
    /// The line it begins on, from 1.
    let line: Int
    let jws: Result<[UInt8], Problem>
  }

  /// Why a line holds no JWS: a code as stable as those of verification.
  struct Problem: Error {
    enum Code: String {
      /// Not JSON that could be accepted.
      case notJSON
      /// JSON, but without `signedPayload`.
      case noSignedPayload
    }

    let code: Code
    let detail: String
  }

  let items: [Item]

  /// Empty when `bytes` hold nothing but white space.
  init(_ bytes: [UInt8]) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Self.trimmed)
    let filled = lines.enumerated().filter { !$0.element.isEmpty }
    if filled.count > 1, let first = filled.first, first.element.first == UInt8(ascii: "{"),
      (try? JSONReader.read(Array(first.element))) == nil
    {
      // A body over several lines, as people indent it.
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
