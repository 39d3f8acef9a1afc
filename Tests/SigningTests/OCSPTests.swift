@Suite struct `OCSP` {
  private let now = Bench.now
  private let pki = Bench.pki

  private func request(hash: SignatureHash = .sha1, hasNonce: Bool = true) throws -> OCSPRequest {
    try OCSPRequest(
      for: pki.leaf.certificate, issuer: pki.intermediate.certificate, namedBy: hash, hasNonce: hasNonce)
  }

  private func delegate(
    of issuer: CertificateAuthority, forOCSP: Bool = true, until end: Timestamp? = nil
  ) throws -> CertificateAuthority {
    var template = CertificateTemplate(
      commonName: "Responder", notBefore: now - .days(30), notAfter: end ?? now + .days(30), isAuthority: false)
    if forOCSP { template.extensions = [.ocspSigning] }
    return try issuer.issue(template, to: .generate(.p256))
  }

  @Test(
    arguments: [
      OCSPAnswer.Status.good, .unknown, .revoked(at: Bench.now - .days(3)),
      .revoked(at: Bench.now - .days(3), reason: 1),
    ], [SignatureHash.sha1, .sha256])
  func `tells what the responder knows`(status: OCSPAnswer.Status, hash: SignatureHash) throws {
    let request = try request(hash: hash)
    let response = try OCSPResponder(for: pki.intermediate).answer(request.der, at: now) { serial in
      #expect(serial == pki.leaf.certificate.serialNumber)
      return status
    }
    let answer = try request.answer(in: response, at: now)
    #expect(answer.status == status)
    #expect(answer.signer == .issuer)
    #expect(answer.isFresh)
    #expect(answer.producedAt == now && answer.thisUpdate == now && answer.nextUpdate == now + .hours(12))
  }

  @Test func `takes the word of a delegate of the issuer`() throws {
    let request = try request()
    let responder = OCSPResponder(for: pki.intermediate, delegate: try delegate(of: pki.intermediate))
    let answer = try request.answer(in: responder.answer(request.der, at: now) { _ in .good }, at: now)
    #expect(answer.signer == .delegate)
    #expect(answer.status == .good)
  }

  @Test func `says unknown of what another authority issued`() throws {
    let request = try OCSPRequest(for: pki.leaf.certificate, issuer: Bench.stranger.intermediate.certificate)
    let response = try OCSPResponder(for: pki.intermediate).answer(request.der, at: now) { _ in .good }
    #expect(throws: OCSPError(.untrustedResponder)) { try request.answer(in: response, at: now) }
    let other = try OCSPRequest(for: pki.intermediate.certificate, issuer: pki.root.certificate)
    let unknown = try OCSPResponder(for: pki.intermediate, delegate: pki.root).answer(other.der, at: now) { _ in .good }
    #expect(try other.answer(in: unknown, at: now).status == .unknown)
  }

  @Test func `refuses delegates that nobody made for answering`() throws {
    let request = try request()
    let wrong = [
      try delegate(of: pki.intermediate, forOCSP: false),
      try delegate(of: Bench.stranger.intermediate),
      try delegate(of: pki.intermediate, until: now - .days(1)),
      pki.leaf,
    ]
    for delegate in wrong {
      let response = try OCSPResponder(for: pki.intermediate, delegate: delegate)
        .answer(request.der, at: now) { _ in .good }
      #expect(throws: OCSPError(.untrustedResponder)) { try request.answer(in: response, at: now) }
    }
  }

  @Test func `refuses a response that was changed`() throws {
    let request = try request()
    let response = try OCSPResponder(for: pki.intermediate).answer(request.der, at: now) { _ in .good }
    let answer = try request.answer(in: response, at: now)
    // What is not signed stands last: the issuer's certificate, which is not needed.
    let signed = response.count - pki.intermediate.certificate.der.count
    var reasons: Set<OCSPError.Code> = []
    for place in stride(from: 0, to: response.count, by: 7) {
      var changed = response
      changed[place] ^= 0x10
      do {
        #expect(try request.answer(in: changed, at: now) == answer)
        #expect(place >= signed, "\(place) of \(response.count)")
      } catch {
        reasons.insert(error.code)
      }
    }
    #expect(reasons.isSuperset(of: [.malformedResponse, .untrustedResponder]))
    for length in [0, 1, 5, response.count - 1] {
      #expect(throws: OCSPError(.malformedResponse)) {
        try request.answer(in: Array(response.prefix(length)), at: now)
      }
    }
    #expect(throws: OCSPError(.malformedResponse)) { try request.answer(in: response + [0], at: now) }
  }

  @Test(arguments: [
    (-Interval.days(1).milliseconds, OCSPError.Code.notYetValid), (Interval.days(1).milliseconds, .stale),
  ])
  func `refuses answers of another day`(later: Int64, code: OCSPError.Code) throws {
    let request = try request()
    let response = try OCSPResponder(for: pki.intermediate).answer(request.der, at: now) { _ in .good }
    #expect(throws: OCSPError(code)) { try request.answer(in: response, at: now + .milliseconds(later)) }
  }

  @Test func `tells an answer made ahead from one to somebody else`() throws {
    let (first, second) = (try request(), try request())
    let responder = OCSPResponder(for: pki.intermediate)
    let other = try responder.answer(second.der, at: now) { _ in .good }
    #expect(throws: OCSPError(.nonceMismatch)) { try first.answer(in: other, at: now) }
    let ahead = try responder.answer(request(hasNonce: false).der, at: now) { _ in .good }
    #expect(try !first.answer(in: ahead, at: now).isFresh)
  }

  @Test(arguments: OCSPResponder.Failure.allCases)
  func `hands on that the responder has no answer`(refusal: OCSPResponder.Failure) throws {
    let request = try request()
    #expect(throws: OCSPError(.unsuccessful)) {
      try request.answer(in: OCSPResponder.refusal(refusal), at: now)
    }
  }

  @Test func `refuses what is no request`() {
    for bytes: [UInt8] in [[], [0x30, 0], Array("hello".utf8)] {
      #expect(throws: OCSPError(.malformedRequest)) {
        try OCSPResponder(for: pki.intermediate).answer(bytes, at: now) { _ in .good }
      }
    }
  }

  @Test func `is announced in a certificate that names the responder`() throws {
    let pki = Bench.make { $0.leaf.template.ocspURL = "http://127.0.0.1:8080/ocsp/leaf" }
    #expect(pki.leaf.certificate.ocspURLs == ["http://127.0.0.1:8080/ocsp/leaf"])
    #expect(Bench.pki.leaf.certificate.ocspURLs == [])
  }
}

extension OCSPError {
  /// For comparison; the detail does not count.
  fileprivate init(_ code: Code) { self.init(code, "") }
}
