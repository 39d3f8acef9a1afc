@testable import BulkMigration

@Suite struct `Text around an artefact` {
  private static let receipt = "MIIT0AYJKoZIhvcNAQcCoIITwTCCE70CAQExCzAJBgUrDgMCGgUA+/8="

  private static func hex(_ text: String) -> String {
    text.utf8.map { byte in String(byte / 16, radix: 16) + String(byte % 16, radix: 16) }.joined()
  }

  private static let wrapped: [(name: String, text: String)] = [
    ("nothing", receipt), ("spaces", "  \(receipt)\r\n"), ("NUL bytes", receipt + "\u{0}\u{0}"),
    ("a JSON cell", #"{"receipt-data":"\#(receipt)","password":"secret"}"#),
    ("a JSON cell in other words", #"{"receipt_data": "\#(receipt.replacing("/", with: "\\/"))"}"#),
    ("escaped JSON", #"{\"receipt-data\":\"\#(receipt)\"}"#),
    ("doubled quotes", #"{""receipt-data"":""\#(receipt)""}"#),
    ("quoted JSON", #""{\"receipt-data\":\"\#(receipt)\"}""#),
    ("HTML", receipt.replacing("+", with: "&#43;").replacing("=", with: "&#x3D;").replacing("/", with: "&sol;")),
    ("HTML around JSON", "{&quot;receipt-data&quot;:&quot;\(receipt)&quot;}"),
    ("hexadecimal", "0x" + hex(receipt)), ("hexadecimal of MySQL", "X'\(hex(receipt).uppercased())'"),
    ("a form", "receipt-data=\(receipt.replacing("+", with: "%2B").replacing("/", with: "%2F"))&password=secret"),
    ("URL encoding of JSON", "%7B%22receipt-data%22%3A%22\(receipt.replacing("+", with: "%2B"))%22%7D"),
    (
      "base64 of JSON",
      String(decoding: Base64.standard.encode(Array(#"{"receipt-data":"\#(receipt)"}"#.utf8)), as: UTF8.self)
    ),
  ]

  @Test(arguments: wrapped.indices)
  func `is taken off`(index: Int) throws {
    let (name, text) = Self.wrapped[index]
    guard case .receipt(let found) = try DetectedContent(Array(text.utf8)[...]) else {
      Issue.record("\(name) is no receipt")
      return
    }
    #expect(String(decoding: TextUnwrapper.trimmed(found[...]), as: UTF8.self) == Self.receipt, "\(name)")
  }

  @Test func `is told apart from the others by its content`() throws {
    func kind(_ text: String) throws -> String {
      switch try DetectedContent(Array(text.utf8)[...]) {
      case .receipt: "receipt"
      case .jws: "jws"
      case .message: "message"
      case .id(let id, _): "id \(id)"
      case .signed: "signed"
      }
    }
    #expect(try kind("2000000123456789") == "id 2000000123456789")
    #expect(try kind(#"{"original_transaction_id": "70000123"}"#) == "id 70000123")
    #expect(try kind(#"{"transactionId": 70000123}"#) == "id 70000123")
    #expect(try kind("eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.AAAA") == "jws")
    #expect(try kind(#"{"signedPayload":"eyJ.eyJ.A"}"#) == "message")
    #expect(try kind(#"{"notification_type":"DID_RENEW"}"#) == "message")
    #expect(try kind(#"{"status":0,"receipt":{"bundle_id":"a"}}"#) == "message")
    #expect(try kind(#"{"status":21007}"#) == "message")
    #expect(throws: (any Error).self) { try kind("  ") }
  }
}
