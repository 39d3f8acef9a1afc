@Suite struct `Signed data under attack` {
  /// Trusts the bench's root for what Apple signs and nothing for what Xcode signs.
  private static let verifier: SignedDataVerifier = {
    do {
      let root = try Bench.pki.trustedRoot()
      return SignedDataVerifier(
        roots: TrustedRoots(appleAndAlsoTrustedForProduction: [root]).adding([root], for: .sandbox))
    } catch { preconditionFailure("no root: \(error)") }
  }()

  @Test(arguments: Attack.onFormat + Attack.onTrust + Attack.onClaims)
  func `is refused with the one reason`(attack: Attack) throws {
    let jws = try attack.forge()
    let error = #expect(throws: VerificationError.self) {
      try Self.verifier.verifyTransaction(jws, expecting: attack.expectation, now: attack.now)
    }
    #expect(error?.code == attack.code, "\(String(describing: error))")
  }

  @Test(arguments: Attack.onNotifications)
  func `inside a notification is refused with the one reason`(attack: Attack) throws {
    let jws = try attack.forge()
    let error = #expect(throws: VerificationError.self) {
      try Self.verifier.verifyNotification(jws, expecting: attack.expectation, now: attack.now)
    }
    #expect(error?.code == attack.code, "\(String(describing: error))")
  }

  @Test func `has a row for every reason`() {
    let seen = Set((Attack.onFormat + Attack.onTrust + Attack.onClaims + Attack.onNotifications).map(\.code))
    // What an OCSP responder says of a good chain is no attack: RevocationTests.
    #expect(seen.union([.revoked]) == Set(VerificationError.Code.allCases))
  }

  @Test func `is still refused when a good one went before`() throws {
    let verifier = try Bench.verifier()
    let good = try Bench.pki.sign(Bench.transaction)
    _ = try verifier.verifyTransaction(good, expecting: ExpectedClaims(), now: Bench.now)
    for attack in Attack.onTrust where attack.code == .badSignature || attack.code == .notValidAtSigning {
      let jws = try attack.forge()
      #expect(throws: VerificationError(attack.code, "")) {
        try verifier.verifyTransaction(jws, expecting: ExpectedClaims(), now: Bench.now)
      }
    }
  }

  @Test func `changed by one byte is refused or says the same`() throws {
    let verifier = try Bench.verifier()
    let jws = try Bench.pki.sign(Bench.transaction)
    var random = SystemRandomNumberGenerator()
    for round in 0..<600 {
      var changed = jws
      // Every region gets its share: the header is longer than the rest.
      let start = round.isMultiple(of: 2) ? 0 : changed.count - 700
      let index = Int.random(in: start..<changed.count, using: &random)
      let byte = UInt8.random(in: 0...255, using: &random)
      changed[index] = byte
      guard let accepted = try? verifier.verifyTransaction(changed, expecting: ExpectedClaims(), now: Bench.now) else {
        continue
      }
      #expect(accepted.payload == Bench.transaction, "byte \(index) set to \(byte)")
    }
  }
}

@Suite struct `Trust per environment` {
  @Test func `of a root for Sandbox does not reach Production`() throws {
    let verifier = SignedDataVerifier(
      roots: TrustedRoots.apple.adding([try Bench.pki.trustedRoot()], for: .sandbox))
    let sandbox = try Bench.pki.sign(Bench.transaction.with(["environment": "Sandbox"]))
    let production = try Bench.pki.sign(Bench.transaction)
    let unnamed = try Bench.pki.sign(Bench.transaction.with(["environment": nil]))
    let verified = try verifier.verifyTransaction(sandbox, expecting: ExpectedClaims(), now: Bench.now)
    #expect(verified.environment == .sandbox)
    for jws in [production, unnamed] {
      #expect(throws: VerificationError(.unknownRoot, "")) {
        try verifier.verifyTransaction(jws, expecting: ExpectedClaims(), now: Bench.now)
      }
    }
    let asked = try verifier.verifyTransaction(
      unnamed, expecting: ExpectedClaims(environment: .only(.sandbox)), now: Bench.now)
    #expect(asked.environment == .sandbox)
  }

  @Test func `reaches Production when the operator says so in so many words`() throws {
    let verifier = SignedDataVerifier(
      roots: TrustedRoots(appleAndAlsoTrustedForProduction: [try Bench.pki.trustedRoot()]))
    let production = try Bench.pki.sign(Bench.transaction)
    let verified = try verifier.verifyTransaction(production, expecting: ExpectedClaims(), now: Bench.now)
    #expect(verified.environment == .production)
  }

  @Test func `without any root refuses everything`() throws {
    let verifier = SignedDataVerifier(roots: TrustedRoots(exactly: []))
    let jws = try Bench.pki.sign(Bench.transaction)
    #expect(throws: VerificationError(.unknownRoot, "")) {
      try verifier.verifyTransaction(jws, expecting: ExpectedClaims(), now: Bench.now)
    }
  }

  @Test func `ignores the third certificate`() throws {
    var pki = Bench.pki
    for third in [[], [0xFF, 0x00], Bench.stranger.certificates[2]] as [[UInt8]] {
      pki.certificates[2] = third
      let verified = try Bench.verifier().verifyTransaction(
        try pki.sign(Bench.transaction), expecting: ExpectedClaims(), now: Bench.now)
      let root = Bench.pki.root.certificate.fingerprint
      let leaf = Bench.pki.leaf.certificate
      #expect(
        verified.trust == .chain(root: root, leaf: leaf.fingerprint, leafSerialNumber: leaf.serialNumber))
    }
  }

  @Test func `includes both ends of the validity`() throws {
    let verifier = try Bench.verifier()
    let validity = Bench.pki.leaf.certificate.validity
    for (second, isValid) in [
      (validity.lowerBound, true), (validity.lowerBound - 1, false), (validity.upperBound, true),
      (validity.upperBound + 1, false),
    ] {
      let jws = try Bench.pki.sign(Bench.transaction.with(["signedDate": .integer(second * 1_000)]))
      let verified = try? verifier.verifyTransaction(jws, expecting: ExpectedClaims(), now: Bench.now)
      #expect((verified != nil) == isValid, "second \(second)")
    }
  }

  @Test func `of data without a date is judged at the time handed in`() throws {
    let verifier = try Bench.verifier()
    let jws = try Bench.pki.sign(Bench.transaction.with(["signedDate": nil]))
    #expect(try verifier.verifyTransaction(jws, expecting: ExpectedClaims(), now: Bench.now).signedAt == nil)
    #expect(throws: VerificationError(.notValidAtSigning, "")) {
      try verifier.verifyTransaction(jws, expecting: ExpectedClaims(), now: Bench.now + .days(4_000))
    }
  }

  @Test func `is given to self-signed authorities alone`() throws {
    let leaf = Bench.pki.leaf.certificate.der
    let intermediate = Bench.pki.intermediate.certificate.der
    for der in [leaf, intermediate] {
      #expect(throws: CertificateError(.notARoot, "")) { try RootCertificate.read(der) }
    }
    #expect(throws: CertificateError(.malformed, "")) { try RootCertificate.read([1, 2, 3]) }
  }
}
