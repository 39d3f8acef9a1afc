/// A request that two readers may read differently, and the one reading it has here.
struct AmbiguousRequest: Sendable, CustomTestStringConvertible {
  let name: String
  /// Each scalar below U+0100 stands for the byte of its number.
  let text: String
  let reading: Reading

  init(_ name: String, _ text: String, _ reading: Reading) {
    self.name = name
    self.text = text
    self.reading = reading
  }

  init(_ name: String, _ text: String, _ fault: RequestParseError) { self.init(name, text, .refused(fault)) }

  /// A request of this request line.
  static func line(_ name: String, _ line: String, _ reading: Reading) -> Self {
    Self(name, "\(line)\r\nHost: x\r\n\r\n", reading)
  }

  static func line(_ name: String, _ line: String, _ fault: RequestParseError) -> Self {
    .line(name, line, .refused(fault))
  }

  /// A POST with these fields beside its host, and this body.
  static func field(_ name: String, _ field: String, body: String = "", _ reading: Reading) -> Self {
    Self(name, "POST / HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n\(body)", reading)
  }

  static func field(_ name: String, _ field: String, body: String = "", _ fault: RequestParseError) -> Self {
    .field(name, field, body: body, .refused(fault))
  }

  /// A request whose head has this instead of one good host.
  static func host(_ name: String, _ fields: String, _ reading: Reading) -> Self {
    Self(name, "GET / HTTP/1.1\r\n\(fields)\r\n\r\n", reading)
  }

  static func host(_ name: String, _ fields: String, _ fault: RequestParseError) -> Self {
    .host(name, fields, .refused(fault))
  }

  /// A request in chunks.
  static func chunks(_ name: String, _ body: String, _ reading: Reading) -> Self {
    .field(name, "Transfer-Encoding: chunked", body: body, reading)
  }

  static func chunks(_ name: String, _ body: String, _ fault: RequestParseError) -> Self {
    .chunks(name, body, .refused(fault))
  }

  var bytes: [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }

  var testDescription: String { name }
}
