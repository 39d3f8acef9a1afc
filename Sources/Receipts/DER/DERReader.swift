/// Reads DER and BER element by element over bytes that stay where they are: no tree, no copies.
///
/// BER because Xcode writes indefinite lengths and octet strings in pieces (X.690 section 8). What an element costs is
/// counted here, so that one reader serves one message.
package struct DERReader: Sendable {
  private let limits: DERLimits
  private var remaining: Int

  package init(limits: DERLimits = .standard) {
    self.limits = limits
    remaining = limits.count
  }

  /// The element at `offset`, which ends before `end`; `offset` is moved behind it.
  package mutating func element(
    in bytes: Span<UInt8>, at offset: inout Int, before end: Int
  ) throws(DERError) -> DERElement {
    let element = try element(in: bytes, from: offset, before: end, depth: 0)
    offset = element.end
    return element
  }

  /// The same, when it must have this tag.
  package mutating func element(
    _ tag: DERTag, in bytes: Span<UInt8>, at offset: inout Int, before end: Int
  ) throws(DERError) -> DERElement {
    let element = try element(in: bytes, at: &offset, before: end)
    guard element.tag == tag else { throw .malformed }
    return element
  }

  /// The octets of a string: in one piece where they are, or gathered when it was written in several.
  package mutating func octets(of element: DERElement, in bytes: Span<UInt8>) throws(DERError) -> DEROctets {
    switch element.tag {
    case .octetString: return .inPlace(element.content)
    case .constructedOctetString:
      var gathered: [UInt8] = []
      try gather(element, in: bytes, into: &gathered, depth: 1)
      return .gathered(gathered)
    default: throw .malformed
    }
  }

  private mutating func gather(
    _ element: DERElement, in bytes: Span<UInt8>, into gathered: inout [UInt8], depth: Int
  ) throws(DERError) {
    guard depth <= limits.depth else { throw .tooDeep }
    var offset = element.content.lowerBound
    while offset < element.content.upperBound {
      let piece = try self.element(in: bytes, at: &offset, before: element.content.upperBound)
      switch piece.tag {
      case .octetString: for index in piece.content { gathered.append(bytes[index]) }
      case .constructedOctetString: try gather(piece, in: bytes, into: &gathered, depth: depth + 1)
      default: throw .malformed
      }
    }
  }

  private mutating func element(
    in bytes: Span<UInt8>, from start: Int, before end: Int, depth: Int
  ) throws(DERError) -> DERElement {
    guard remaining > 0 else { throw .tooMany }
    remaining -= 1
    guard end <= bytes.count, start + 2 <= end else { throw Self.overrun(end, bytes) }
    let tag = DERTag(rawValue: bytes[start])
    // No tag of more than one byte stands in a receipt or a certificate's frame.
    guard tag.rawValue & 0x1F != 0x1F else { throw .malformed }
    let first = bytes[start + 1]
    var content = start + 2
    if first < 0x80 { return try definite(tag, content, Int(first), end, bytes) }
    if first == 0x80 {
      guard tag.isConstructed else { throw .malformed }
      let close = try endOfContents(in: bytes, from: content, before: end, depth: depth + 1)
      return DERElement(tag: tag, start: start, content: content..<close, end: close + 2)
    }
    let width = Int(first & 0x7F)
    guard width <= 4 else { throw .malformed }
    guard content + width <= end else { throw Self.overrun(end, bytes) }
    var length = 0
    for index in content..<content + width { length = length << 8 | Int(bytes[index]) }
    content += width
    return try definite(tag, content, length, end, bytes, start: start)
  }

  private func definite(
    _ tag: DERTag, _ content: Int, _ length: Int, _ end: Int, _ bytes: Span<UInt8>, start: Int? = nil
  ) throws(DERError) -> DERElement {
    guard length <= end - content else { throw Self.overrun(end, bytes) }
    return DERElement(
      tag: tag, start: start ?? content - 2, content: content..<content + length, end: content + length)
  }

  /// Where the two zero bytes stand that end an indefinite length.
  private mutating func endOfContents(
    in bytes: Span<UInt8>, from start: Int, before end: Int, depth: Int
  ) throws(DERError) -> Int {
    guard depth <= limits.depth else { throw .tooDeep }
    var offset = start
    while true {
      guard offset + 2 <= end else { throw Self.overrun(end, bytes) }
      if bytes[offset] == 0, bytes[offset + 1] == 0 { return offset }
      offset = try element(in: bytes, from: offset, before: end, depth: depth).end
    }
  }

  /// Past the last byte is cut off; past the end of what surrounds it is wrong.
  private static func overrun(_ end: Int, _ bytes: Span<UInt8>) -> DERError {
    end >= bytes.count ? .truncated : .malformed
  }
}
