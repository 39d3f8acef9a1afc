@Suite struct `The cache of verified chains` {
  @Test func `builds a chain once, however many threads ask at the same time`() throws {
    let verifier = try Bench.verifier()
    let jws = try Bench.pki.sign(Bench.transaction)
    let accepted = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<20 {
        let verified = try? verifier.verifyTransaction(jws, expecting: ExpectedClaims(), now: Bench.now)
        if verified != nil { accepted.add(1, ordering: .relaxed) }
      }
    }
    #expect(accepted.load(ordering: .relaxed) == 160)
    #expect(verifier.counts.chainsBuilt == 1)
    #expect(verifier.counts.headers == 1)
  }

  @Test func `stays within its bound and right, with more chains than it holds on eight threads`() throws {
    let verifier = SignedDataVerifier(
      roots: TrustedRoots(exactly: [try Bench.pki.trustedRoot()]), limits: .init(cachedChains: 4))
    let tokens = try (0..<10).map { _ in
      let pki = try Bench.below(Bench.pki) { $0.intermediate.key = .p256 }
      return try pki.sign(Bench.transaction)
    }
    let forged = try Bench.stranger.sign(Bench.transaction)
    let wrong = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<40 {
        let good = try? verifier.verifyTransaction(
          tokens[(thread + round) % tokens.count], expecting: ExpectedClaims(), now: Bench.now)
        let bad = try? verifier.verifyTransaction(forged, expecting: ExpectedClaims(), now: Bench.now)
        if good == nil || bad != nil { wrong.add(1, ordering: .relaxed) }
      }
    }
    #expect(wrong.load(ordering: .relaxed) == 0)
    #expect(verifier.counts.chains <= 4)
    #expect(verifier.counts.headers <= 4)
  }

  @Test func `does not keep refusals`() throws {
    let verifier = try Bench.verifier()
    for _ in 0..<3 {
      _ = try? verifier.verifyTransaction(
        Bench.stranger.sign(Bench.transaction), expecting: ExpectedClaims(), now: Bench.now)
    }
    #expect(verifier.counts.chains == 0)
    #expect(verifier.counts.chainsBuilt == 3)
  }

  @Test func `knows a chain by its certificates, not by the header around them`() throws {
    let verifier = try Bench.verifier()
    for kid in ["a", "b", "c"] {
      var header = Bench.pki.header
      header["kid"] = .string(kid)
      let jws = try JWS.sign(header: header, payload: Bench.transaction, with: Bench.pki.signingKey())
      _ = try verifier.verifyTransaction(jws, expecting: ExpectedClaims(), now: Bench.now)
    }
    #expect(verifier.counts.chainsBuilt == 1)
    #expect(verifier.counts.headers == 3)
  }
}
