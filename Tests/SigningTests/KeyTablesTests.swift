@Suite struct `The tables of keys` {
  /// A key that signs, and what tells it from others.
  private struct Signer {
    let key: SigningKey
    let publicKey: PublicKey
    let leaf: Digest

    init() throws {
      key = try SigningKey.generate()
      publicKey = try key.privateKey.publicKey()
      leaf = .sha256(publicKey.point)
    }

    /// Whether a good signature is found good, so many times.
    func isAccepted(_ times: Int, by tables: KeyTables) throws -> Bool {
      let signature = try key.signature(of: [1])
      return (0..<times).allSatisfy { _ in
        tables.verifies(signature, of: .sha256([1]), by: publicKey, leaf: leaf)
      }
    }

    func isForgeryAccepted(by tables: KeyTables) throws -> Bool {
      try tables.verifies(key.signature(of: [1]), of: .sha256([2]), by: publicKey, leaf: leaf)
    }
  }

  /// Work that is put aside until a test runs it.
  private final class Aside: Sendable {
    private let work = Mutex<[@Sendable () -> Void]>([])

    var count: Int { work.withLock { $0.count } }
    func add(_ some: @escaping @Sendable () -> Void) { work.withLock { $0.append(some) } }
    func run() {
      for some in work.withLock({ work in
        defer { work = [] }
        return work
      }) { some() }
    }
  }

  private static let atOnce = KeyTables.KeyTableBuilder(aside: { $0() })

  @Test func `come after so many good signatures, and bad ones do not count`() throws {
    let tables = KeyTables(.init(signatures: 5), making: Self.atOnce)
    let signer = try Signer()
    #expect(try signer.isAccepted(4, by: tables))
    for _ in 0..<10 { #expect(try !signer.isForgeryAccepted(by: tables)) }
    #expect(tables.counts == (0, 0, 0))
    #expect(try signer.isAccepted(1, by: tables))
    #expect(tables.counts == (0, 1, 0))
    #expect(try signer.isAccepted(1, by: tables))
    #expect(tables.counts == (1, 1, 0))
    #expect(try signer.isAccepted(20, by: tables))
    for _ in 0..<10 { #expect(try !signer.isForgeryAccepted(by: tables)) }
    #expect(tables.counts == (1, 1, 0))
  }

  @Test func `are made once each, beside the messages`() throws {
    let aside = Aside()
    let tables = KeyTables(.init(signatures: 3), making: .init(aside: aside.add))
    let signer = try Signer()
    let signature = try signer.key.signature(of: [1])
    let refused = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<20
      where !tables.verifies(signature, of: .sha256([1]), by: signer.publicKey, leaf: signer.leaf) {
        refused.add(1, ordering: .relaxed)
      }
    }
    #expect(refused.load(ordering: .relaxed) == 0)
    #expect(aside.count == 1)
    #expect(tables.counts == (0, 0, 0))
    aside.run()
    #expect(tables.counts == (0, 1, 0))
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<20
      where !tables.verifies(signature, of: .sha256([1]), by: signer.publicKey, leaf: signer.leaf) {
        refused.add(1, ordering: .relaxed)
      }
    }
    #expect(refused.load(ordering: .relaxed) == 0)
    #expect(tables.counts == (1, 1, 0))
    #expect(aside.count == 0)
  }

  @Test func `stay within their bound, and no busy key loses its own`() throws {
    let tables = KeyTables(.init(signatures: 3, tables: 2), making: Self.atOnce)
    let (first, second, third) = (try Signer(), try Signer(), try Signer())
    #expect(try first.isAccepted(4, by: tables))
    #expect(try second.isAccepted(4, by: tables))
    #expect(tables.counts == (2, 2, 0))
    // Both are used while the third is counted.
    for _ in 0..<10 {
      #expect(try third.isAccepted(1, by: tables))
      #expect(try first.isAccepted(1, by: tables))
      #expect(try second.isAccepted(1, by: tables))
    }
    #expect(tables.counts == (2, 2, 0))
    // The first is not used any more.
    for _ in 0..<10 {
      #expect(try third.isAccepted(1, by: tables))
      #expect(try second.isAccepted(1, by: tables))
    }
    #expect(tables.counts == (2, 3, 0))
    #expect(try first.isAccepted(2, by: tables))
    #expect(tables.counts == (2, 3, 0))
  }

  @Test func `know of so many keys and no more, and a table is never given up for a key that has none`() throws {
    let tables = KeyTables(.init(signatures: 2, tables: 2, keys: 3), making: Self.atOnce)
    let signers = try (0..<5).map { _ in try Signer() }
    #expect(try signers[0].isAccepted(3, by: tables))
    #expect(tables.counts == (1, 1, 0))
    // Of these the last two are remembered beside the one with the table, which is unused for longest.
    for signer in signers[1...] { #expect(try signer.isAccepted(1, by: tables)) }
    #expect(tables.counts == (1, 1, 0))
    #expect(try signers[1].isAccepted(1, by: tables))
    #expect(tables.counts == (1, 1, 0))
    #expect(try signers[4].isAccepted(2, by: tables))
    #expect(tables.counts == (2, 2, 0))
    #expect(try signers.allSatisfy { try $0.isAccepted(1, by: tables) })
    #expect(tables.counts == (2, 2, 0))
  }

  enum Lie: CaseIterable {
    case refusesAll, acceptsAll, saysTheOpposite

    func instead(of truth: Bool) -> Bool {
      switch self {
      case .refusesAll: false
      case .acceptsAll: true
      case .saysTheOpposite: !truth
      }
    }
  }

  @Test(arguments: Lie.allCases) func `are not used when they contradict EVP from the beginning`(lie: Lie) throws {
    let signer = try Signer()
    let liar = KeyTables.KeyTableBuilder(
      table: { [publicKey = signer.publicKey] _ in { lie.instead(of: publicKey.verifies($0, of: $1)) } },
      aside: { $0() })
    let tables = KeyTables(.init(signatures: 2), making: liar)
    #expect(try signer.isAccepted(20, by: tables))
    for _ in 0..<5 { #expect(try !signer.isForgeryAccepted(by: tables)) }
    #expect(tables.counts == (0, 1, 1))
  }

  @Test func `are not used any more once they refuse what is good`() throws {
    let signer = try Signer()
    let isLying = Atomic(false)
    let isLyingNow = { @Sendable in isLying.load(ordering: .relaxed) }
    let making = KeyTables.KeyTableBuilder(
      table: { [publicKey = signer.publicKey] _ in { !isLyingNow() && publicKey.verifies($0, of: $1) } },
      aside: { $0() })
    let tables = KeyTables(.init(signatures: 2), making: making)
    #expect(try signer.isAccepted(5, by: tables))
    #expect(tables.counts == (1, 1, 0))
    isLying.store(true, ordering: .relaxed)
    #expect(try !signer.isForgeryAccepted(by: tables))
    #expect(tables.counts == (1, 1, 0))
    #expect(try signer.isAccepted(10, by: tables))
    #expect(tables.counts == (0, 1, 1))
  }

  @Test func `are counted once when several callers find the same one wrong`() throws {
    let signer = try Signer()
    let isLying = Atomic(false)
    let inside = Aside()
    let isLyingNow = { @Sendable in isLying.load(ordering: .relaxed) }
    let making = KeyTables.KeyTableBuilder(
      table: { [publicKey = signer.publicKey] _ in
        { signature, digest in
          // Another caller has the table in hand at the same time.
          inside.run()
          return !isLyingNow() && publicKey.verifies(signature, of: digest)
        }
      }, aside: { $0() })
    let tables = KeyTables(.init(signatures: 2), making: making)
    #expect(try signer.isAccepted(5, by: tables))
    #expect(tables.counts == (1, 1, 0))
    isLying.store(true, ordering: .relaxed)
    let others = Atomic(0)
    inside.add { others.add((try? signer.isAccepted(1, by: tables)) == true ? 1 : 0, ordering: .relaxed) }
    #expect(try signer.isAccepted(1, by: tables))
    #expect(others.load(ordering: .relaxed) == 1)
    #expect(tables.counts == (0, 1, 1))
  }

  @Test func `are done without where none can be made`() throws {
    let signer = try Signer()
    let tables = KeyTables(.init(signatures: 2), making: .init(table: { _ in nil }, aside: { $0() }))
    #expect(try signer.isAccepted(10, by: tables))
    #expect(try !signer.isForgeryAccepted(by: tables))
    #expect(tables.counts == (0, 0, 0))
  }

  @Test func `verify what Apple signs, made on a queue of their own`() async throws {
    let tables = KeyTables(.init(signatures: 10))
    let verifier = SignedDataVerifier(
      roots: TrustedRoots(exactly: [try Bench.pki.trustedRoot()]), tables: tables, revocations: nil)
    let jws = try Bench.pki.sign(Bench.transaction)
    let changed = Array(jws.dropLast(8)) + Array("AAAAAAAA".utf8)
    func verify() throws {
      _ = try verifier.verifyTransaction(jws, expecting: ExpectedClaims(), now: Bench.now)
      #expect(throws: VerificationError(.badSignature, "")) {
        try verifier.verifyTransaction(changed, expecting: ExpectedClaims(), now: Bench.now)
      }
    }
    for _ in 0..<10 { try verify() }
    let deadline = ContinuousClock.now + .seconds(60)
    while verifier.tableCounts.used == 0, .now < deadline {
      try verify()
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(verifier.tableCounts == (1, 1, 0))
    for _ in 0..<20 { try verify() }
    #expect(verifier.tableCounts == (1, 1, 0))
  }
}
