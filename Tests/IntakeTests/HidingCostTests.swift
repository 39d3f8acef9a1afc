@testable import Intake

/// Anybody can post a body, and it is searched for secrets before anything vouches for it: four of a megabyte stopped every
/// connection for a minute.
@Suite(.computesForLong) struct `The time that hiding secrets takes` {
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"
  private let key = MasterKey.generate()
  private let secrets = SecretFilter([Array(secret.utf8)])

  /// A body of about `size` bytes.
  typealias Shape = @Sendable (_ size: Int) -> String

  private static func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: max(1, count)) }

  private static func list(_ items: [String]) -> String { "[\(items.joined(separator: ","))]" }

  private static func jws(_ payload: String) -> String {
    let encoded = String(decoding: Base64.url.encode(Array(payload.utf8)), as: UTF8.self)
    return "\(times(300, "h")).\(encoded).\(times(86, "A"))"
  }

  private static let shapes: [(name: String, text: Shape)] = [
    (
      "long nested passwords",
      { size in
        let long = times(size / 4, "a")
        return (0..<4).reduce("1") { inner, level in #"{"password":"\#(long)\#(level)","x":\#(inner)}"# }
      }
    ),
    (
      "passwords in passwords",
      { size in
        (0..<30).reduce(#""\#(times(size, "a"))""#) { inner, _ in #"{"password":\#(inner)}"# }
      }
    ),
    (
      "16 passwords that match nearly everywhere",
      { size in
        let text = times(size / 32, "a")
        let passwords = (0..<16).map { #"{"password":"\#(text)b\#($0)"}"# }
        return #"{"x":\#(list(passwords)),"y":"\#(times(size / 2, "a"))"}"#
      }
    ),
    (
      "16 passwords beside many texts",
      { size in
        let passwords = (0..<16).map { #"{"password":"\#(times(48, "a"))b\#($0)"}"# }
        let texts = Array(repeating: #""\#(times(60, "a"))""#, count: size / 63)
        return #"{"x":\#(list(passwords)),"y":\#(list(texts))}"#
      }
    ),
    (
      "many short passwords",
      { size in list((0..<(size / 34)).map { #"{"password":"\#(100_000_000_000_000 + $0)"}"# }) }
    ),
    ("the word alone", { size in #"{"x":"\#(times(size / 9, "password "))"}"# }),
    ("signs of assignment", { size in #"{"x":"\#(times(size / 32, "password\(times(24, ":"))"))"}"# }),
    ("digits", { size in #"{"x":"\#(times(size / 32, "5ec7e75ec7e75ec7e75ec7e75ec7e75f"))"}"# }),
    ("registered secrets", { size in #"{"x":"\#(times(size / 32, secret))"}"# }),
    (
      "registered secrets as names",
      { size in
        let members = (0..<(size / 80)).map { #""\#(secret)\#($0)":1,"[redacted] \#($0)":2"# }
        return "{\(members.joined(separator: ","))}"
      }
    ),
    (
      "JWS in JWS",
      { size in
        let text = #"{"k":"\#(times(size / 3, "x"))"}"#
        return
          #"{"x":"\#((0..<3).reduce(text) { inner, _ in jws(#"{"a":"\#(inner.replacing("\"", with: "'"))"}"#) })"}"#
      }
    ),
  ]

  private func hide(_ text: String) -> () -> Void {
    let body = Array(text.utf8)
    return { [key, secrets] in
      _ = ReceivedNotification(body, key: key, secrets: secrets, receivedAt: Milliseconds(1_767_600_000_000))
    }
  }

  @Test(arguments: shapes.map(\.name)) func `grows as the body does`(name: String) throws {
    let shape = try #require(Self.shapes.first { $0.name == name }).text
    let ratio = Growth.ratio(small: hide(shape(55 << 10)), large: hide(shape(440 << 10)))
    // Eight times as long; quadratic work would take 64 times as long.
    #expect(ratio < 20, "\(ratio)")
  }

  /// 972 KB each, as they were sent.
  @Test(arguments: shapes.map(\.name)) func `is a few times that of an ordinary body`(name: String) throws {
    let shape = try #require(Self.shapes.first { $0.name == name }).text
    let row = #"{"product_id":"monthly","transaction_id":"430000000000123","purchase_date_ms":"1770000000000"}"#
    let rows = Self.list(Array(repeating: row, count: 972_000 / (row.utf8.count + 1)))
    let ordinary = #"{"notification_type":"DID_RENEW","password":"\#(Self.secret)","x":\#(rows)}"#
    let ratio = Growth.ratio(small: hide(ordinary), large: hide(shape(972_000)))
    #expect(ratio < 4, "\(ratio)")
  }
}
