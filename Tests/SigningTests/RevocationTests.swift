@Suite struct `Revocation` {
  private let now = Bench.now
  private let pki = Self.pki
  /// As Apple's are, with the names of responders.
  private static let pki = Bench.make { blueprint in
    blueprint.leaf.template.ocspURL = "http://ocsp.example.com/leaf"
    blueprint.intermediate.template.ocspURL = "http://ocsp.example.com/intermediate"
  }

  private func verify(
    _ revocations: RevocationCache, _ pki: ApplePKI, signedAt date: Timestamp = Bench.now, at now: Timestamp
  ) throws(VerificationError) {
    do {
      let verifier = SignedDataVerifier(
        roots: TrustedRoots(exactly: [try pki.trustedRoot()]), revocations: revocations)
      var transaction = Bench.transaction
      transaction["signedDate"] = .integer(date.sinceEpoch)
      _ = try verifier.verifyTransaction(pki.sign(transaction), expecting: ExpectedClaims(), now: now)
    } catch let error as VerificationError { throw error } catch { preconditionFailure("\(error)") }
  }

  @Test(arguments: [true, false])
  func `refuses what was signed from then on, and nothing before`(isLeaf: Bool) throws {
    let revocations = RevocationCache()
    try verify(revocations, pki, at: now)
    let revoked = (isLeaf ? pki.leaf : pki.intermediate).certificate.fingerprint
    let question = try #require(revocations.due(at: now).first { $0.certificate.fingerprint == revoked })
    let end = now - .days(1)
    #expect(revocations.note(.revoked(at: end), of: question, at: now))
    #expect(throws: VerificationError(.revoked, "")) { try verify(revocations, pki, at: now) }
    #expect(throws: VerificationError(.revoked, "")) { try verify(revocations, pki, signedAt: end, at: now) }
    try verify(revocations, pki, signedAt: end - .milliseconds(1), at: now)
  }

  @Test func `stays, and only its date can become earlier`() throws {
    let revocations = RevocationCache()
    try verify(revocations, pki, at: now)
    let question = try #require(revocations.due(at: now).first)
    #expect(revocations.note(.revoked(at: now - .days(2)), of: question, at: now))
    for status in [OCSPAnswer.Status.good, .unknown, .revoked(at: now - .days(1)), .revoked(at: now + .days(1))] {
      #expect(!revocations.note(status, of: question, at: now))
      #expect(throws: VerificationError(.revoked, "")) {
        try verify(revocations, pki, signedAt: now - .days(2), at: now)
      }
    }
    #expect(!revocations.note(.revoked(at: now - .days(3)), of: question, at: now))
    #expect(throws: VerificationError(.revoked, "")) { try verify(revocations, pki, signedAt: now - .days(3), at: now) }
    #expect(revocations.revoked == [question.certificate.fingerprint: now - .days(3)])
  }

  @Test func `is learned from others, of what was not used yet too`() throws {
    let (revocations, leaf) = (RevocationCache(), pki.leaf.certificate.fingerprint)
    for days in [2, 3, 1] as [Int64] { revocations.learn([leaf: now - .days(days)]) }
    #expect(throws: VerificationError(.revoked, "")) {
      try verify(revocations, pki, signedAt: now - .days(3), at: now)
    }
    try verify(revocations, pki, signedAt: now - .days(3) - .milliseconds(1), at: now)
  }

  @Test func `is asked about twice a day, and again soon where there was no answer`() throws {
    let revocations = RevocationCache()
    #expect(revocations.due(at: now).isEmpty)
    try verify(revocations, pki, at: now)
    let due = revocations.due(at: now)
    #expect(Set(due.map(\.certificate.fingerprint)).count == 2)
    for question in due { revocations.note(.good, of: question, at: now) }
    try verify(revocations, pki, at: now + .hours(11))
    #expect(revocations.due(at: now + .hours(11)).isEmpty)
    #expect(revocations.due(at: now + .hours(12)).count == 2)
    for question in due { revocations.noteFailure(of: question, at: now + .hours(12)) }
    #expect(revocations.due(at: now + .hours(12) + .minutes(4)).isEmpty)
    #expect(revocations.due(at: now + .hours(12) + .minutes(5)).count == 2)
    #expect(revocations.due(at: now + .days(3)).isEmpty, "nothing used it for two days")
  }

  @Test func `is asked about only for what somebody signed, within bounds`() throws {
    let revocations = RevocationCache(capacity: 3)
    var forged = try Bench.stranger.sign(Bench.transaction)
    let verifier = SignedDataVerifier(
      roots: TrustedRoots(exactly: [try pki.trustedRoot()]), revocations: revocations)
    #expect(throws: VerificationError(.unknownRoot, "")) {
      try verifier.verifyTransaction(forged, expecting: ExpectedClaims(), now: now)
    }
    forged = try pki.sign(Bench.transaction)
    let last = forged.count - 5
    forged[last] = forged[last] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    #expect(throws: VerificationError(.badSignature, "")) {
      try verifier.verifyTransaction(forged, expecting: ExpectedClaims(), now: now)
    }
    #expect(revocations.due(at: now).isEmpty)
    for other in [pki, Bench.stranger, Bench.make()] { try verify(revocations, other, at: now) }
    #expect(revocations.due(at: now).count == 3)
  }
}
