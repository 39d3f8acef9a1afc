@Suite struct `The filter for shared secrets` {
  private static let secrets = ["5ec7e75ec7e75ec7e75ec7e75ec7e75e", "0DDBA110DDBA110DDBA110DDBA110DDB"]
  private let filter = SecretFilter(secrets.map { Array($0.utf8) } + [Array("short".utf8)])

  private func redacted(_ text: String) -> String { filter.redacted(text) }

  @Test(arguments: secrets, ["", "x", "0", "fff", "-ff", "5ec7e75e"])
  func `finds a secret wherever it stands, in upper and lower case`(secret: String, before: String) {
    for text in [secret, secret.lowercased(), secret.uppercased()] {
      for after in ["", "y", "0", "ff-"] {
        #expect(redacted(before + text + after) == before + SecretFilter.marker + after, "\(before) \(text) \(after)")
      }
    }
    for length in 0..<70 {
      let around = String(repeating: "-", count: length)
      #expect(redacted(around + secret + around) == around + SecretFilter.marker + around)
    }
    #expect(redacted(secret + secret) == SecretFilter.marker + SecretFilter.marker)
  }

  @Test func `finds nothing else`() {
    for secret in Self.secrets {
      for place in 0..<SecretFilter.digits {
        var text = Array(secret.utf8)
        text[place] = text[place] == UInt8(ascii: "1") ? UInt8(ascii: "2") : UInt8(ascii: "1")
        #expect(filter.redacted(text) == nil)
      }
      #expect(redacted(String(secret.dropLast())) == String(secret.dropLast()))
    }
    #expect(redacted("this is a short text") == "this is a short text")
    var random = [UInt8]()
    for _ in 0..<200_000 { random.append(Array("0123456789abcdefABCDEF".utf8).randomElement() ?? 0) }
    #expect(filter.redacted(random) == nil && SecretFilter().redacted(random) == nil)
  }
}
