import HTTPServer

/// Requests of any bytes: nothing stops the process, the way they are divided does not matter, and a request that is
/// taken means the same when it is written out plainly.
///
/// The first byte says how many bytes arrive at once.
enum HeadSubject {
  static let limits: HTTPServerLimits = {
    var limits = HTTPServerLimits()
    (limits.head, limits.line, limits.fields) = (2_048, 1_024, 20)
    return limits
  }()

  static func check(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    let whole = RequestRead(bytes, inPartsOf: bytes.count, limits)
    if RequestRead(bytes, inPartsOf: 1 + Int(first)) != whole { preconditionFailure("the division matters") }
    guard case .request(let head, let body, let size) = whole.outcome else { return }
    checkBytes(Array(bytes.prefix(head.size)))
    if size > bytes.count { preconditionFailure("took what is not there") }
    if case .length(let length) = head.framing, length != body.count || size != head.size + length {
      preconditionFailure("a body of another length")
    }
    // Bytes that are not UTF-8 take more when they are written out.
    let plain = RequestRead(RequestRead.plain(head, body), inPartsOf: 1 << 20, HTTPServerLimits())
    guard case .request(let again, body, _) = plain.outcome, RequestRead.hasSameMeaning(head, again) else {
      preconditionFailure("means something else when written plainly")
    }
  }

  /// No line end but CRLF, no control byte, nothing before a colon that is not a name.
  private static func checkBytes(_ head: [UInt8]) {
    for (index, byte) in head.enumerated() where byte < 0x20 && byte != 0x09 {
      let isCR = byte == 0x0D && index + 1 < head.count && head[index + 1] == 0x0A
      let isLF = byte == 0x0A && index > 0 && head[index - 1] == 0x0D
      if !isCR && !isLF { preconditionFailure("took a control byte") }
      let next = index + 1 < head.count ? head[index + 1] : 0
      if isLF, next == 0x20 || next == 0x09 { preconditionFailure("took a folded line") }
    }
    if head.suffix(4) != [0x0D, 0x0A, 0x0D, 0x0A] { preconditionFailure("a head without an end") }
    if head.count > limits.head + 4 { preconditionFailure("a head beyond its limit") }
  }
}

extension RequestRead {
  fileprivate init(_ bytes: [UInt8], inPartsOf part: Int) { self.init(bytes, inPartsOf: part, HeadSubject.limits) }
}
