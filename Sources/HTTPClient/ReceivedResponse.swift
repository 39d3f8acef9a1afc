/// A response as it comes in, within its limits.
struct ReceivedResponse {
  private(set) var status: Int?
  private(set) var fields: [(name: String, value: String)] = []
  private(set) var body: [UInt8] = []
  /// Which limit ended the transfer.
  private(set) var overflow: HTTPClientError?
  /// Bytes of memory that the body may take by now.
  private var reserved = 0
  private var headerBytes = 0
  private var headIsComplete = false
  private let bodyLimit: Int
  private let headerLimit: Int
  private let admit: (@Sendable (Int) -> Bool)?

  init(bodyLimit: Int, headerLimit: Int, admit: (@Sendable (Int) -> Bool)?) {
    self.bodyLimit = bodyLimit
    self.headerLimit = headerLimit
    self.admit = admit
  }

  /// False when there is more than was allowed.
  mutating func takeBody(_ part: UnsafeRawBufferPointer) -> Bool {
    let needed = body.count + part.count
    guard needed <= bodyLimit else {
      overflow = HTTPClientError(.tooLarge, "the body exceeds \(bodyLimit) bytes")
      return false
    }
    guard needed <= reserved || reserve(needed) else {
      overflow = HTTPClientError(.noRoom, "there is no memory for more than \(body.count) bytes of the answer")
      return false
    }
    unsafe body.append(contentsOf: part)
    return true
  }

  /// Takes memory for `needed` bytes and some more; false if it is not admitted.
  ///
  /// Nothing is taken for what the server only announces: an answer may break off.
  private mutating func reserve(_ needed: Int) -> Bool {
    let announced = ClientHeaders(fields: fields)["Content-Length"].flatMap { Int($0) }
    let expected = min(bodyLimit, announced ?? bodyLimit)
    let room = max(needed, min(expected, max(2 * reserved, needed + Self.ahead)))
    guard admit?(room - reserved) ?? true else { return false }
    reserved = room
    body.reserveCapacity(room)
    return true
  }

  /// Bytes reserved beyond what a part needs, until doubling is more: most answers are smaller.
  private static let ahead = 16 << 10

  /// Takes one line: a status line starts over (100 Continue came before); what follows the body is no header.
  mutating func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    headerBytes += line.count
    guard headerBytes <= headerLimit else {
      overflow = HTTPClientError(.tooLarge, "the headers exceed \(headerLimit) bytes")
      return false
    }
    let text = unsafe line.prefix { $0 != 0x0D && $0 != 0x0A }
    if unsafe text.starts(with: "HTTP/".utf8) {
      unsafe status = Int(String(decoding: text.split(separator: 0x20).dropFirst().first ?? text[..<0], as: UTF8.self))
      fields = []
      headIsComplete = false
    } else if unsafe text.isEmpty {
      headIsComplete = true
    } else if !headIsComplete, let colon = unsafe text.firstIndex(of: UInt8(ascii: ":")) {
      let value = unsafe text[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
      let end = unsafe (value.lastIndex { $0 != 0x20 && $0 != 0x09 }).map { $0 + 1 } ?? value.startIndex
      unsafe fields.append(
        (String(decoding: text[..<colon], as: UTF8.self), String(decoding: value[..<end], as: UTF8.self)))
    }
    return true
  }
}
