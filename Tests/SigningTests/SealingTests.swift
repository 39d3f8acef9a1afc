@Suite struct `A sealed secret` {
  private let key = MasterKey.generate()
  private let secret = Array("-----BEGIN PRIVATE KEY-----".utf8)

  @Test(arguments: [0, 1, 15, 16, 17, 4_096])
  func `opens in its own place`(count: Int) throws {
    let secret = [UInt8].random(count: count)
    let sealed = key.seal(secret, context: "apps/7/p8")
    #expect(try key.open(Sealed(sealed.bytes), context: "apps/7/p8") == secret)
    #expect(sealed.bytes.count == count + 37)
  }

  @Test func `is different every time`() {
    #expect(key.seal(secret, context: "a").bytes != key.seal(secret, context: "a").bytes)
  }

  @Test func `does not open in another place`() {
    let sealed = key.seal(secret, context: "apps/7/p8")
    #expect(throws: SealingError(.altered, "")) { try key.open(sealed, context: "apps/8/p8") }
  }

  @Test func `does not open under another key`() {
    let sealed = key.seal(secret, context: "a")
    #expect(throws: SealingError(.wrongKey, "")) { try MasterKey.generate().open(sealed, context: "a") }
  }

  @Test func `does not open with any bit changed`() throws {
    let sealed = key.seal(secret, context: "a").bytes
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      let expected: SealingError.Code =
        switch index {
        case 0: .malformed
        case 1...8: .wrongKey
        default: .altered
        }
      #expect(throws: SealingError(expected, "")) { try key.open(Sealed(changed), context: "a") }
    }
  }

  @Test func `has a least length`() {
    #expect(throws: SealingError(.malformed, "")) { try Sealed([]) }
    #expect(throws: SealingError(.malformed, "")) { try Sealed([UInt8](repeating: 1, count: 36)) }
  }

  @Test func `opens under a previous key of the ring, which seals with the current one`() throws {
    let next = MasterKey.generate()
    let ring = Keyring(current: next, previous: [key])
    let old = key.seal(secret, context: "a")
    #expect(try ring.open(old, context: "a") == secret)
    #expect(ring.seal(secret, context: "a").keyID == next.id)
    #expect(throws: SealingError(.wrongKey, "")) { try Keyring(current: next).open(old, context: "a") }
  }
}

@Suite struct `A master key` {
  @Test func `comes back from its file, with or without a line end, or raw`() throws {
    let key = MasterKey.generate()
    let file = key.fileContents
    #expect(file.count == 65)
    let sealed = key.seal([1, 2, 3], context: "a")
    let hex = Array(file.dropLast())
    let raw = try #require(Digest(hex: String(decoding: hex, as: UTF8.self))).bytes
    for file in [file, hex, raw, file + Array("\r\n".utf8)] {
      #expect(try MasterKey(file: file).open(sealed, context: "a") == [1, 2, 3])
    }
  }

  @Test(arguments: ["", "00", String(repeating: "0", count: 63), String(repeating: "g", count: 64)])
  func `of another form is refused`(file: String) {
    #expect(throws: SealingError(.malformedKey, "")) { try MasterKey(file: Array(file.utf8)) }
  }

  @Test func `makes codes that depend on key, purpose and bytes`() {
    let key = MasterKey.generate()
    let code = key.code(for: [1, 2], purpose: "a")
    #expect(code == key.code(for: [1, 2], purpose: "a"))
    #expect(code.isEqualInConstantTime(to: key.code(for: [1, 2], purpose: "a")))
    let others = [
      key.code(for: [1], purpose: "a"), key.code(for: [1, 2], purpose: "b"),
      key.code(for: Array("b".utf8) + [1], purpose: "a"), key.code(for: [1], purpose: "ab"),
      MasterKey.generate().code(for: [1, 2], purpose: "a"),
    ]
    #expect(!others.contains(code))
    #expect(Set(others).count == others.count)
  }
}
