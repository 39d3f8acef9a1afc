/// A response as it comes in, within its limits.
struct ReceivedResponse {
  private(set) var status: Int?
  private(set) var fields: [(name: String, value: String)] = []
  private(set) var body: [UInt8] = []
  /// Which limit ended the transfer.
  private(set) var overflow: String?
  private var headerBytes = 0
  private var headIsComplete = false
  private let bodyLimit: Int
  private let headerLimit: Int

  init(bodyLimit: Int, headerLimit: Int) {
    self.bodyLimit = bodyLimit
    self.headerLimit = headerLimit
  }

  /// False when there is more than was allowed.
  mutating func takeBody(_ part: UnsafeRawBufferPointer) -> Bool {
    guard body.count + part.count <= bodyLimit else {
      overflow = "the body exceeds \(bodyLimit) bytes"
      return false
    }
    unsafe body.append(contentsOf: part)
    return true
  }

  /// Takes one line: a status line starts over (100 Continue came before); what follows the body is no header.
  mutating func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    headerBytes += line.count
    guard headerBytes <= headerLimit else {
      overflow = "the headers exceed \(headerLimit) bytes"
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
