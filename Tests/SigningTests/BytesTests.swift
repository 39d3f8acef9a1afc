@Suite struct `Base64 text` {
  @Test(arguments: 0..<70)
  func `comes back as it was, of any length`(count: Int) {
    let bytes = [UInt8].random(count: count)
    for base64 in [Base64.url, .standard] { #expect(base64.decode(base64.encode(bytes)) == bytes) }
  }

  // RFC 4648 section 10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func `is that of the RFC`(text: String, encoded: String) {
    #expect(Base64.standard.encode(Array(text.utf8)) == Array(encoded.utf8))
    #expect(Base64.standard.decode(Array(encoded.utf8)) == Array(text.utf8))
    #expect(Base64.url.encode(Array(text.utf8)) == Array(encoded.utf8.filter { $0 != UInt8(ascii: "=") }))
  }

  @Test(arguments: [
    "A", "AA", "AAA", "AB==", "AAB=", "A===", "====", "AA=A", "AAAA====", "AA==AA==", " AAA", "AAA\n", "AA-_",
    "AAA\u{e9}",
  ])
  func `of the standard alphabet is strict`(text: String) {
    #expect(Base64.standard.decode(Array(text.utf8)) == nil)
  }

  @Test(arguments: ["A", "AB", "AAB", "AA==", "AAA=", "AA+/", "AA AA", "AAAA\n", "AAAA.", "AAAAA"])
  func `of the URL alphabet is strict`(text: String) {
    #expect(Base64.url.decode(Array(text.utf8)) == nil)
  }

  @Test func `ends where a byte is none of its letters, wherever that is`() {
    let letters = Array("abyzABYZ0189-_".utf8)
    let others = (UInt8.min...UInt8.max).filter { !$0.isBase64URL }
    #expect(others.count == 256 - 64)
    for count in [0, 1, 31, 32, 33, 64, 100] {
      let text = (0..<count).map { letters[$0 % letters.count] }
      #expect(text.span.endOfBase64URL(from: 0) == count)
      for start in 0...count { #expect(text.span.endOfBase64URL(from: start) == count) }
      for place in 0..<count {
        var broken = text
        broken[place] = others[(place * 7 + count) % others.count]
        #expect(broken.span.endOfBase64URL(from: 0) == place)
      }
    }
    for other in others {
      var text = [UInt8](repeating: UInt8(ascii: "a"), count: 40)
      text[13] = other
      #expect(text.span.endOfBase64URL(from: 0) == 13)
    }
  }

  @Test func `accepts its own letters and no other byte`() {
    for byte in UInt8.min...UInt8.max {
      let isLetter =
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      for position in 0..<4 {
        var text = Array("AAAA".utf8)
        text[position] = byte
        #expect((Base64.url.decode(text) != nil) == isLetter)
      }
    }
  }
}

@Suite struct `A digest` {
  // FIPS 180-4 and RFC 4231.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
  ])
  func `is SHA-256`(text: String, hex: String) {
    #expect(Digest.sha256(Array(text.utf8)).hex == hex)
    #expect(Digest(hex: hex) == Digest.sha256(Array(text.utf8)))
  }

  @Test func `with a key is HMAC-SHA256`() {
    let code = Digest.hmac(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
    #expect(code.hex == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test func `is 32 bytes or nothing`() {
    #expect(Digest(bytes: [1]) == nil)
    #expect(Digest(hex: "00") == nil)
    #expect(Digest(hex: String(repeating: "x", count: 64)) == nil)
    let digest = Digest.sha256([1])
    #expect(Digest(bytes: digest.bytes) == digest)
    #expect(!digest.isEqualInConstantTime(to: .sha256([2])))
    #expect([1, 2].isEqualInConstantTime(to: [1, 2]))
    #expect(![1, 2].isEqualInConstantTime(to: [1]))
  }
}
