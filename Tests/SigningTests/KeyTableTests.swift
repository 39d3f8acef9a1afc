@Suite struct `The table of a key` {
  private typealias Curve = CurveSamples

  @Test(arguments: 0..<8) func `says what EVP says of signatures that are good and of those that are not`(
    round: Int
  ) throws {
    let key = try SigningKey.generate()
    let publicKey = try key.privateKey.publicKey()
    let table = try #require(KeyTable(point: publicKey.point))
    var accepted = 0
    for index in 0..<250 {
      let message = [UInt8].random(count: index)
      let good = try key.signature(of: message)
      let digest = Digest.sha256(message)
      #expect(table.accepts(good, of: digest) && publicKey.verifies(good, of: digest))
      for bit in [index, index + 256, 511] {
        let changed = good.changed(bit: bit)
        let isAccepted = table.accepts(changed, of: digest)
        #expect(isAccepted == publicKey.verifies(changed, of: digest))
        if isAccepted { accepted += 1 }
      }
      let other = Digest.sha256([UInt8(round)] + message)
      #expect(!table.accepts(good, of: other) && !publicKey.verifies(good, of: other))
    }
    #expect(accepted == 0)
  }

  @Test func `accepts the other s of a signature, as EVP does`() throws {
    let key = try SigningKey.generate()
    let publicKey = try key.privateKey.publicKey()
    let table = try #require(KeyTable(point: publicKey.point))
    for index: UInt8 in 0..<50 {
      let signature = try key.signature(of: [index])
      let twin = Curve.signature(Array(signature.bytes[..<32]), Curve.opposite(of: Array(signature.bytes[32...])))
      #expect(table.accepts(twin, of: .sha256([index])))
      #expect(publicKey.verifies(twin, of: .sha256([index])))
    }
  }

  @Test func `refuses the signatures of another key`() throws {
    let (key, stranger) = (try SigningKey.generate(), try SigningKey.generate())
    let table = try #require(KeyTable(point: try key.privateKey.publicKey().point))
    for index: UInt8 in 0..<50 {
      #expect(!table.accepts(try stranger.signature(of: [index]), of: .sha256([index])))
    }
  }

  /// Signatures worked out by hand, for G as the key (its private half is 1): s = (e + r) / k, r the x of k · G.
  @Test(arguments: [
    // k = 1, e = 0: u1 is 0, and so it is when e is n.
    (Curve.number(Curve.x1), Curve.number(Curve.x1), Curve.number(0), true),
    (Curve.number(Curve.x1), Curve.number(Curve.x1), Curve.number(Curve.order), true),
    (Curve.number(Curve.x1), Curve.number(Curve.x1), Curve.number(1), false),
    // k = 1, e = 1, and n + 1 is the same.
    (Curve.number(Curve.x1), Curve.number(Curve.x1, 1), Curve.number(1), true),
    (Curve.number(Curve.x1), Curve.number(Curve.x1, 1), Curve.number(Curve.order, 1), true),
    (Curve.number(Curve.x1), Curve.number(Curve.x1, 1), Curve.number(Curve.order, 2), false),
    // k = 2, e = r: both points that are added are G.
    (Curve.number(Curve.x2), Curve.number(Curve.x2), Curve.number(Curve.x2), true),
    (Curve.number(Curve.x2), Curve.number(Curve.x2), Curve.number(Curve.x2, 1), false),
    // e = -r: the points are opposites, their sum is nowhere.
    (Curve.number(1), Curve.number(1), Curve.number(Curve.order, -1), false),
    (Curve.number(3), Curve.number(200), Curve.number(Curve.order, -3), false),
  ])
  func `agrees with EVP at the edges`(r: [UInt8], s: [UInt8], e: [UInt8], isGood: Bool) throws {
    let key = try Curve.key(Curve.generator)
    let table = try #require(KeyTable(point: key.point))
    let digest = try #require(Digest(bytes: e))
    #expect(table.accepts(Curve.signature(r, s), of: digest) == isGood)
    #expect(key.verifies(Curve.signature(r, s), of: digest) == isGood)
  }

  @Test func `adds opposite points of a key that is the opposite of the generator`() throws {
    let key = try Curve.key(Curve.opposite)
    let table = try #require(KeyTable(point: key.point))
    // e = r: e/s · G + r/s · -G is nowhere. e = 0: r/s · -G has the x of G.
    let nowhere = Curve.signature(Curve.number(Curve.x1), Curve.number(7))
    let digest = try #require(Digest(bytes: Curve.number(Curve.x1)))
    #expect(!table.accepts(nowhere, of: digest) && !key.verifies(nowhere, of: digest))
    let good = Curve.signature(Curve.number(Curve.x1), Curve.number(Curve.x1))
    let zero = try #require(Digest(bytes: Curve.number(0)))
    #expect(table.accepts(good, of: zero) && key.verifies(good, of: zero))
  }

  @Test func `knows that x may be r + n`() throws {
    // The key's own x is n + 3: e = 0, r = s = 3 leads to the key itself.
    let key = try Curve.key(Curve.high)
    let table = try #require(KeyTable(point: key.point))
    let zero = try #require(Digest(bytes: Curve.number(0)))
    for (number, isGood): (UInt8, Bool) in [(3, true), (2, false), (4, false)] {
      let signature = Curve.signature(Curve.number(number), Curve.number(number))
      #expect(table.accepts(signature, of: zero) == isGood)
      #expect(key.verifies(signature, of: zero) == isGood)
    }
    let unreduced = Curve.signature(Curve.number(Curve.highX), Curve.number(3))
    #expect(!table.accepts(unreduced, of: zero) && !key.verifies(unreduced, of: zero))
  }

  @Test func `refuses r and s that are no numbers from 1 to n - 1`() throws {
    let key = try Curve.key(Curve.generator)
    let table = try #require(KeyTable(point: key.point))
    let (zero, x) = (try #require(Digest(bytes: Curve.number(0))), Curve.number(Curve.x1))
    let wrong = [
      Curve.number(0), Curve.number(Curve.order), Curve.number(Curve.order, 1), Curve.number(Curve.field),
      [UInt8](repeating: 255, count: 32),
    ]
    for number in wrong {
      for signature in [
        Curve.signature(number, x), Curve.signature(x, number), Curve.signature(number, number),
      ] {
        #expect(!table.accepts(signature, of: zero) && !key.verifies(signature, of: zero))
      }
    }
    // n - 1 is a number like any other.
    let last = Curve.signature(Curve.number(Curve.order, -1), Curve.number(Curve.order, -1))
    #expect(table.accepts(last, of: zero) == key.verifies(last, of: zero))
  }

  @Test func `serves many threads at once`() throws {
    let key = try SigningKey.generate()
    let publicKey = try key.privateKey.publicKey()
    let table = try #require(KeyTable(point: publicKey.point))
    let signatures = try (0..<64).map { try key.signature(of: [$0]) }
    let wrong = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 24) { thread in
      for index in 0..<200 {
        let number = (thread + index) % 64
        let digest = Digest.sha256([UInt8(number)])
        let (good, bad) = (signatures[number], signatures[number].changed(bit: index))
        if !table.accepts(good, of: digest) || table.accepts(bad, of: digest) { wrong.add(1, ordering: .relaxed) }
      }
    }
    #expect(wrong.load(ordering: .relaxed) == 0)
  }

  @Test func `is made of nothing but a point of P-256`() throws {
    let point = try PrivateKey.generate(.p256).publicKey().point
    #expect(point.count == 65)
    #expect(KeyTable(point: []) == nil)
    #expect(KeyTable(point: [0]) == nil)
    #expect(KeyTable(point: point.dropLast() + [point[64] ^ 1]) == nil)
    #expect(KeyTable(point: try PrivateKey.generate(.p384).publicKey().point) == nil)
  }
}
