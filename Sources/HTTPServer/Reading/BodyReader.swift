/// Finds a request's body in the bytes that follow its head.
///
/// Pure and incremental. It keeps no bytes: the caller takes each part from the input, and passes again the rest after
/// `position`. The caller must limit the bytes of content; this reader limits the overhead of chunks.
package struct BodyReader: Sendable {
  package enum Step: Hashable, Sendable {
    /// The end has not arrived; everything before `position` is processed.
    case needsMore
    /// These bytes of the input belong to the body.
    case part(Range<Int>)
    /// The body is complete; the next request begins at `position`.
    case end
  }

  private enum State: Hashable {
    case length(Int)
    case chunkLine
    case chunk(left: Int)
    case chunkEnd
    case trailer
    case ended
  }

  private var state: State
  private var scanner = LineScanner()
  private var extensionsLeft = Self.extensions
  private var trailersLeft = Self.trailers

  package init(_ framing: BodyFraming) {
    state =
      switch framing {
      case .length(let length): .length(length)
      case .chunked: .chunkLine
      }
  }

  /// Takes the next step, and moves `position` behind the processed part of `input`.
  package mutating func next(in input: Span<UInt8>, at position: inout Int) throws(RequestParseError) -> Step {
    while true {
      switch state {
      case .length(0), .ended:
        state = .ended
        return .end
      case .length(let left):
        guard let part = Self.part(of: left, in: input, at: &position) else { return .needsMore }
        state = .length(left - part.count)
        return .part(part)
      case .chunkLine:
        guard try readChunkLine(input, &position) else { return .needsMore }
      case .chunk(left: 0): state = .chunkEnd
      case .chunk(let left):
        guard let part = Self.part(of: left, in: input, at: &position) else { return .needsMore }
        state = .chunk(left: left - part.count)
        return .part(part)
      case .chunkEnd:
        guard try Self.readLineEnd(input, &position) else { return .needsMore }
        state = .chunkLine
      case .trailer:
        guard try readTrailer(input, &position) else { return .needsMore }
      }
    }
  }

  private static func part(of left: Int, in input: Span<UInt8>, at position: inout Int) -> Range<Int>? {
    let count = min(left, input.count - position)
    guard count > 0 else { return nil }
    defer { position += count }
    return position..<position + count
  }

  // MARK: Chunks (RFC 9112, 7.1)

  /// Reads `5;name=value`; false if incomplete.
  ///
  /// Extensions are ignored (7.1.1) up to a limit, because each costs time without benefit.
  private mutating func readChunkLine(_ input: Span<UInt8>, _ position: inout Int) throws(RequestParseError) -> Bool {
    let limit = Self.sizeDigits + extensionsLeft
    guard let line = try scanner.line(in: input, from: position, limit: limit, tooLong: .chunkLineTooLong) else {
      return false
    }
    var index = line.lowerBound
    var size = 0
    while index < line.upperBound, let digit = input[index].hexadecimalValue {
      guard index - line.lowerBound < Self.sizeDigits else { throw .chunkSize }
      size = size << 4 | digit
      index += 1
    }
    guard index > line.lowerBound else { throw .chunkSize }
    if index < line.upperBound {
      guard input[index] == UInt8(ascii: ";") else { throw .chunkSize }
      let text = input.extracting(index + 1..<line.upperBound)
      guard !text.isEmpty, text.holdsOnly({ $0 < 0x7F }) else { throw .chunkExtension }
      extensionsLeft -= line.upperBound - index
      guard extensionsLeft >= 0 else { throw .chunkLineTooLong }
    }
    position = line.upperBound + 2
    state = size == 0 ? .trailer : .chunk(left: size)
    return true
  }

  private static func readLineEnd(_ input: Span<UInt8>, _ position: inout Int) throws(RequestParseError) -> Bool {
    guard position < input.count else { return false }
    guard input[position] == LineScanner.carriageReturn else { throw .chunkEnd }
    guard position + 1 < input.count else { return false }
    guard input[position + 1] == LineScanner.lineFeed else { throw .chunkEnd }
    position += 2
    return true
  }

  /// Reads one field after the last chunk, or the empty line.
  ///
  /// Fields are checked like those of a head and dropped, so that they cannot add to the checked head (7.1.2).
  private mutating func readTrailer(_ input: Span<UInt8>, _ position: inout Int) throws(RequestParseError) -> Bool {
    guard
      let line = try scanner.line(in: input, from: position, limit: max(0, trailersLeft), tooLong: .trailerTooLong)
    else { return false }
    position = line.upperBound + 2
    if line.isEmpty {
      state = .ended
    } else {
      _ = try FieldLine(input, line)
      trailersLeft -= line.count + 2
    }
    return true
  }

  /// The most digits of a chunk's size: 4 GiB.
  private static let sizeDigits = 8
  private static let extensions = 1 << 10
  /// The most bytes of all trailer fields.
  private static let trailers = 1 << 10
}
