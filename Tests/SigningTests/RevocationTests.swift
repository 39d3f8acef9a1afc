@Suite struct `Revocation` {
  private let now = Bench.now
  private let pki = Self.pki
  /// As Apple's are, with the names of responders.
  private static let pki = Bench.make { blueprint in
    blueprint.leaf.template.ocspURL = "http://ocsp.example.com/leaf"
    blueprint.intermediate.template.ocspURL = "http://ocsp.example.com/intermediate"
  }

  private func standing(
    _ status: OCSPAnswer.Status, from: Milliseconds = Bench.now - .hours(1), for life: Interval = .hours(12)
  ) -> CertificateStanding {
    CertificateStanding(
      certificate: pki.leaf.certificate.fingerprint, serialNumber: "1", status: status, thisUpdate: from,
      nextUpdate: from + life)
  }

  private func outcome(
    _ policy: RevocationPolicy, _ standing: CertificateStanding?, signedAt date: Milliseconds = Bench.now,
    now: Milliseconds = Bench.now
  ) -> String {
    switch policy.verdict(on: pki.leaf.certificate, standing, signedAt: date, now: now) {
    case .vouched: "vouched"
    case .history: "history"
    case .unvouched: "unvouched"
    case .refused(let error): error.code.rawValue
    }
  }

  @Test func `is told by the answer that counts, else by the policy`() {
    let good = standing(.good)
    let stale = standing(.good, from: now - .days(2))
    for policy in RevocationPolicy.allCases {
      #expect(outcome(policy, good) == "vouched")
      // What was good later was good before.
      #expect(outcome(policy, stale, signedAt: now - .days(3)) == "vouched")
      let open = policy == .require ? "revocationNotKnown" : "unvouched"
      #expect(outcome(policy, nil) == open)
      #expect(outcome(policy, stale) == open)
      #expect(outcome(policy, standing(.unknown)) == open)
    }
  }

  @Test func `is refused for good where it must be known and nobody can be asked`() {
    for policy in RevocationPolicy.allCases {
      let verdict = policy.verdict(on: Bench.pki.leaf.certificate, nil, signedAt: now, now: now)
      guard case .refused(let error) = verdict else {
        #expect(policy != .require && verdict == .unvouched)
        continue
      }
      #expect(policy == .require && error.code == .noResponderNamed)
    }
  }

  @Test(arguments: RevocationPolicy.allCases)
  func `refuses what was signed from then on, and nothing before`(policy: RevocationPolicy) {
    let revoked = standing(.revoked(at: now - .days(1)))
    #expect(outcome(policy, revoked) == "revoked")
    #expect(outcome(policy, revoked, signedAt: now - .days(1)) == "revoked")
    #expect(outcome(policy, revoked, signedAt: now - .days(1) - .milliseconds(1)) == "vouched")
    // Known for good, also when the certificate has ended since.
    #expect(outcome(policy, revoked, now: now + .days(9_000)) == "revoked")
  }

  @Test(arguments: RevocationPolicy.allCases)
  func `leaves the history of certificates that have ended as it is`(policy: RevocationPolicy) {
    #expect(outcome(policy, nil, now: now + .days(9_000)) == "history")
  }

  @Test func `stays, unless it was a hold`() {
    let later = standing(.good, from: now)
    let revoked = standing(.revoked(at: now - .days(1), reason: 1))
    #expect(revoked.followed(by: later) == revoked)
    #expect(revoked.followed(by: standing(.unknown, from: now)) == revoked)
    #expect(standing(.revoked(at: now - .days(1), reason: 6)).followed(by: later) == later)
    #expect(later.followed(by: standing(.unknown, from: now + .hours(1))) == later)
    #expect(later.followed(by: standing(.good)) == later, "an older answer")
    #expect(standing(.good).followed(by: revoked) == revoked)
  }

  @Test func `of a certificate that a responder calls good for a year is asked about every week`() {
    #expect(standing(.good, for: .days(365)).nextUpdate == now - .hours(1) + .days(7))
  }

  private func verify(_ revocations: Revocations, _ pki: ApplePKI, at now: Milliseconds) throws(VerificationError) {
    do {
      let verifier = SignedDataVerifier(
        roots: TrustedRoots(exactly: [try pki.trustedRoot()]), revocations: revocations)
      _ = try verifier.verifyTransaction(
        pki.sign(Bench.transaction), expecting: ExpectedClaims(), now: now)
    } catch let error as VerificationError { throw error } catch { preconditionFailure("\(error)") }
  }

  @Test func `is asked about once while somebody asks, then again well before the answer ends`() throws {
    let revocations = Revocations(.prefer)
    #expect(revocations.due(at: now).isEmpty)
    try verify(revocations, pki, at: now)
    #expect(revocations.unvouchedCount == 1)
    let due = revocations.due(at: now)
    #expect(Set(due.map(\.certificate.fingerprint)).count == 2)
    #expect(revocations.due(at: now).isEmpty)
    for question in due {
      revocations.note(
        CertificateStanding(
          certificate: question.certificate.fingerprint, serialNumber: "", status: .good, thisUpdate: now,
          nextUpdate: now + .hours(8)), at: now)
    }
    try verify(revocations, pki, at: now + .hours(5))
    #expect(revocations.unvouchedCount == 1)
    #expect(revocations.due(at: now + .hours(5)).isEmpty)
    #expect(revocations.due(at: now + .hours(6)).count == 2)
    for question in due { revocations.noteFailure(of: question, at: now + .hours(6)) }
    try verify(revocations, pki, at: now + .hours(7))
    #expect(revocations.unvouchedCount == 1, "the answer still counts while the responder is down")
    #expect(revocations.due(at: now + .hours(6)).isEmpty)
    #expect(revocations.due(at: now + .hours(6) + .minutes(5)).count == 2)
    #expect(Revocations(.off).due(at: now).isEmpty)
  }

  @Test func `is asked about however often what is known already is read`() throws {
    let revocations = Revocations(.require)
    func good(from: Milliseconds) -> [CertificateStanding] {
      [pki.leaf, pki.intermediate].map {
        CertificateStanding(
          certificate: $0.certificate.fingerprint, serialNumber: "", status: .good, thisUpdate: from,
          nextUpdate: from + .hours(8))
      }
    }
    #expect(throws: VerificationError(.revocationNotKnown, "")) { try verify(revocations, pki, at: now) }
    for standing in good(from: now) { revocations.note(standing, at: now) }
    try verify(revocations, pki, at: now + .hours(7))
    for minute in 0...420 {
      for standing in good(from: now) { revocations.recall(standing, at: now + .minutes(Int64(minute))) }
    }
    let due = revocations.due(at: now + .hours(7))
    #expect(due.count == 2)
    // Neither is a question given to two, nor a pause between failures ended.
    for standing in good(from: now) { revocations.recall(standing, at: now + .hours(7)) }
    #expect(revocations.due(at: now + .hours(7)).isEmpty)
    for _ in 0..<10 { for question in due { revocations.noteFailure(of: question, at: now + .hours(7)) } }
    for standing in good(from: now) { revocations.recall(standing, at: now + .hours(7)) }
    #expect(revocations.due(at: now + .hours(7) + .minutes(4)).isEmpty)
    // What another process heard is news, and need not be asked.
    for standing in good(from: now + .hours(6)) { revocations.recall(standing, at: now + .hours(7)) }
    #expect(revocations.due(at: now + .hours(11)).isEmpty)
    #expect(revocations.due(at: now + .hours(12)).count == 2)
  }

  @Test func `is asked about only for what somebody signed, within bounds`() throws {
    let revocations = Revocations(.prefer, capacity: 3)
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

  @Test func `that is required is refused until it is known, and then looks at every certificate`() throws {
    let revocations = Revocations(.require)
    #expect(throws: VerificationError(.revocationNotKnown, "")) { try verify(revocations, pki, at: now) }
    #expect(revocations.due(at: now).count == 2, "the intermediate too")
    revocations.note(standing(.good), at: now)
    #expect(throws: VerificationError(.revocationNotKnown, "")) { try verify(revocations, pki, at: now) }
    revocations.note(
      CertificateStanding(
        certificate: pki.intermediate.certificate.fingerprint, serialNumber: "2",
        status: .revoked(at: now - .days(1)), thisUpdate: now, nextUpdate: now + .days(1)), at: now)
    #expect(throws: VerificationError(.revoked, "")) { try verify(revocations, pki, at: now) }
    #expect(revocations.revoked.map(\.serialNumber) == ["2"])
  }
}
