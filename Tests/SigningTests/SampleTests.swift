/// Apple's own fixtures and a real answer of 2021, read from beside the project.
@Suite(.enabled(if: Samples.directory != nil, "the samples are not beside the package")) struct `Real samples` {
  private static let now = Timestamp(1_767_225_600_000)

  private static func mockVerifier() throws -> SignedDataVerifier {
    let root = try RootCertificate.read(Samples.required("apple_library/certs/testCA.der"))
    return SignedDataVerifier(roots: TrustedRoots(exactly: root))
  }

  @Test func `of Apple's library verify below its test root`() throws {
    let verifier = try Self.mockVerifier()
    let expected = ExpectedClaims(bundleID: "com.example", appAppleID: 1234, environment: .only(.sandbox))
    func token(_ name: String) throws -> [UInt8] { try Samples.token("apple_library/mock_signed_data/\(name)") }
    let notification = try verifier.verifyNotification(token("testNotification"), expecting: expected, now: Self.now)
    #expect(notification.bundleID == "com.example")
    #expect(notification.notification.payload["notificationType"] == "TEST")
    let transaction = try verifier.verifyTransaction(token("transactionInfo"), expecting: expected, now: Self.now)
    #expect(transaction.signedAt == Timestamp(1_672_956_154_000))
    let renewal = try verifier.verifyRenewal(token("renewalInfo"), expecting: expected, now: Self.now)
    #expect(renewal.environment == .sandbox)
    guard case .renewal = try verifier.verifyAny(token("renewalInfo"), expecting: expected, now: Self.now) else {
      Issue.record("the renewal is taken for something else")
      return
    }
  }

  @Test(arguments: [
    ("wrongBundleId", VerificationError.Code.wrongBundle), ("missingX5CHeaderClaim", .missingCertificates),
    ("legacyTransaction", .notAJWS), ("transactionInfo", .unexpectedKind), ("renewalInfo", .unexpectedKind),
  ])
  func `that are wrong are refused each with its own reason`(name: String, code: VerificationError.Code) throws {
    let jws = try Samples.token("apple_library/mock_signed_data/\(name)")
    #expect(throws: VerificationError(code, "")) {
      try Self.mockVerifier()
        .verifyNotification(jws, expecting: ExpectedClaims(bundleID: "com.example"), now: Self.now)
    }
  }

  @Test func `of Apple's library are nothing to Apple's root`() throws {
    let jws = try Samples.token("apple_library/mock_signed_data/testNotification")
    #expect(throws: VerificationError(.unknownRoot, "")) {
      try SignedDataVerifier(roots: .apple).verifyNotification(jws, expecting: ExpectedClaims(), now: Self.now)
    }
  }

  @Test(arguments: [
    ("xcode-signed-transaction", PayloadKind.transaction), ("xcode-signed-renewal-info", .renewal),
    ("xcode-signed-app-transaction", .appTransaction),
  ])
  func `signed by Xcode are refused unless allowed`(name: String, kind: PayloadKind) throws {
    let jws = try Samples.token("apple_library/xcode/\(name)")
    let verifier = SignedDataVerifier(roots: .apple)
    #expect(throws: VerificationError(.unsignedTestData, "")) {
      try verifier.verifyAny(jws, expecting: ExpectedClaims(), now: Self.now)
    }
    // The mock's root vouches in every environment, but not for the one certificate of Xcode.
    #expect(throws: VerificationError(.unsignedTestData, "")) {
      try Self.mockVerifier().verifyAny(jws, expecting: ExpectedClaims(), now: Self.now)
    }
    let accepted = try verifier.verifyAny(
      jws, expecting: ExpectedClaims(environment: .unsignedTestData), now: Self.now)
    switch (accepted, kind) {
    case (.transaction(let payload), .transaction), (.renewal(let payload), .renewal),
      (.appTransaction(let payload), .appTransaction):
      #expect(payload.trust == .unsignedTestData)
      #expect(payload.environment == .xcode)
      #expect(payload.signedAt != nil)
    default: Issue.record("taken for \(accepted)")
    }
  }

  @Test func `of Apple's servers, 2021, verify against the pinned root`() throws {
    let answer = try JSONReader.read(Samples.required("v2/omnichess_status_raw_jws.json"))
    let last = try #require(answer.object?["data"]?.array?.first?.object?["lastTransactions"]?.array?.first?.object)
    let verifier = SignedDataVerifier(roots: .apple)
    let transaction = try verifier.verifyTransaction(
      Array(#require(last["signedTransactionInfo"]?.string).utf8),
      expecting: ExpectedClaims(bundleID: "club.omnichess.ios"), now: Self.now)
    let renewal = try verifier.verifyRenewal(
      Array(#require(last["signedRenewalInfo"]?.string).utf8), expecting: ExpectedClaims(), now: Self.now)
    #expect(transaction.payload["originalTransactionId"] == last["originalTransactionId"])
    #expect(renewal.payload["originalTransactionId"] == last["originalTransactionId"])
    guard case .chain(let root, _, _) = transaction.trust else {
      Issue.record("not signed")
      return
    }
    #expect(root.hex == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
    #expect(verifier.counts.chainsBuilt <= 2)
  }

  @Test func `of Apple's certificates are the chain of today`() throws {
    func certificate(_ name: String) throws -> Certificate {
      try Certificate(der: Samples.required("apple_library/certs/REAL_APPLE_\(name).der"))
    }
    let (leaf, intermediate) = (try certificate("SIGNING_CERTIFICATE"), try certificate("INTERMEDIATE"))
    #expect(try certificate("ROOT").fingerprint == RootCertificate.appleG3.certificate.fingerprint)
    let verifier = SignedDataVerifier(roots: .apple)
    func forged(at second: Int64) throws -> [UInt8] {
      let chain = [leaf, intermediate].map { Bench.text(Base64.standard.encode($0.der)) }
      let header: JSONObject = ["alg": "ES256", "x5c": .array(chain + [""])]
      let payload = Bench.transaction.with(["signedDate": .integer(second * 1_000)])
      return try JWS.sign(header: header, payload: payload, with: .generate())
    }
    // Everything about Apple's chain is right; what is missing is Apple's key.
    #expect(throws: VerificationError(.badSignature, "")) {
      try verifier.verifyTransaction(
        forged(at: leaf.validity.lowerBound), expecting: ExpectedClaims(), now: Self.now)
    }
    #expect(throws: VerificationError(.notValidAtSigning, "")) {
      try verifier.verifyTransaction(
        forged(at: leaf.validity.upperBound + 1), expecting: ExpectedClaims(), now: Self.now)
    }
    #expect(verifier.counts.chainsBuilt == 1)
    #expect(verifier.counts.headers == 0)
  }
}
