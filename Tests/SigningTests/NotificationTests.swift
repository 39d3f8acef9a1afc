@Suite struct `A verified notification` {
  @Test func `carries everything inside it`() throws {
    let jws = try Bench.pki.sign(
      Bench.notification(transaction: Bench.transaction, renewal: Bench.renewal))
    let expected = ExpectedClaims(
      bundleID: Bench.bundleID, appAppleID: Bench.appAppleID, environment: .only(.production))
    let verified = try Bench.verifier().verifyNotification(jws, expecting: expected, now: Bench.now)
    #expect(verified.bundleID == Bench.bundleID)
    #expect(verified.environment == .production)
    #expect(verified.appAppleID == Bench.appAppleID)
    #expect(verified.notification.payload["notificationType"] == "DID_RENEW")
    #expect(verified.notification.signedAt == Bench.now)
    #expect(verified.transaction?.payload == Bench.transaction)
    #expect(verified.renewal?.payload == Bench.renewal)
    #expect(verified.appTransaction == nil)
  }

  @Test func `lends its environment to a transaction of 2021, which names none`() throws {
    let sandbox = Bench.data.with(["environment": "Sandbox"])
    let jws = try Bench.pki.sign(
      Bench.notification(data: sandbox, transaction: Bench.transaction.with(["environment": nil])))
    // Trusted for Sandbox alone: as Production, which data without a name counts as otherwise, it would be refused.
    let verifier = SignedDataVerifier(roots: TrustedRoots.apple.adding([try Bench.pki.trustedRoot()], for: .sandbox))
    let verified = try verifier.verifyNotification(jws, expecting: ExpectedClaims(), now: Bench.now)
    #expect(verified.transaction?.environment == .sandbox)
  }

  @Test(arguments: ["data", "summary", "appData"])
  func `takes its app from any carrier`(carrier: String) throws {
    let jws = try Bench.pki.sign(Bench.notification(data: nil, changed: [carrier: .object(Bench.data)]))
    let verified = try Bench.verifier().verifyNotification(
      jws, expecting: ExpectedClaims(bundleID: Bench.bundleID), now: Bench.now)
    #expect(verified.appAppleID == Bench.appAppleID)
  }

  @Test(arguments: [("SANDBOX_1", AppStoreEnvironment.sandbox), ("b2158121", .production)])
  func `of external purchases is of the environment its id says`(id: String, expected: AppStoreEnvironment) throws {
    let token: JSONObject = [
      "externalPurchaseId": .string(id), "bundleId": .string(Bench.bundleID),
      "appAppleId": .integer(Bench.appAppleID),
    ]
    let jws = try Bench.pki.sign(Bench.notification(data: nil, changed: ["externalPurchaseToken": .object(token)]))
    let verified = try Bench.verifier().verifyNotification(
      jws, expecting: ExpectedClaims(appAppleID: Bench.appAppleID), now: Bench.now)
    #expect(verified.environment == expected)
  }

  @Test func `carries the app transaction of a withdrawn consent`() throws {
    let nested = Bench.text(try Bench.pki.sign(Bench.appTransaction))
    let jws = try Bench.pki.sign(
      Bench.notification(
        data: nil, changed: ["appData": .object(Bench.data.with(["signedAppTransactionInfo": nested]))]))
    let verified = try Bench.verifier().verifyNotification(jws, expecting: ExpectedClaims(), now: Bench.now)
    #expect(verified.appTransaction?.payload == Bench.appTransaction)
    #expect(verified.appTransaction?.environment == .production)
  }

  @Test func `keeps its proof when decoded`() throws {
    let jws = try Bench.pki.sign(Bench.transaction)
    let verified = try Bench.verifier().verifyTransaction(jws, expecting: ExpectedClaims(), now: Bench.now)
    let product = verified.decoded { $0["productId"]?.string ?? "" }
    #expect(product.payload == "pro.monthly")
    #expect(product.trust == verified.trust)
    #expect(product.signedAt == Bench.now)
  }

  @Test func `says where inside of it the refusal was`() throws {
    let jws = try Bench.pki.sign(
      Bench.notification(transaction: Bench.transaction.with(["bundleId": "com.example.other"])))
    let error = #expect(throws: VerificationError.self) {
      try Bench.verifier().verifyNotification(jws, expecting: ExpectedClaims(), now: Bench.now)
    }
    #expect(error?.detail.hasPrefix("data.signedTransactionInfo: ") == true)
  }
}

@Suite struct `The kind of a payload` {
  @Test(arguments: [
    (#"{"transactionId":"1","originalTransactionId":"1","environment":"Sandbox"}"#, PayloadKind.transaction),
    (#"{"notificationType":"TEST"}"#, PayloadKind.notification), (#"{"data":{}}"#, .notification),
    (#"{"receiptType":"Sandbox","bundleId":"a"}"#, .appTransaction),
    (#"{"environment":"Sandbox","bundleId":"a","signedDate":1}"#, .transaction),
    (#"{"environment":"Sandbox","signedDate":1}"#, .renewal), (#"{"originalTransactionId":"1"}"#, .renewal),
    (#"{"originalTransactionId":"1","requestIdentifier":"x","userLocale":"en-US"}"#, .realtimeRequest),
    ("{}", nil), (#"{"iss":"x","aud":"appstoreconnect-v1"}"#, nil),
  ])
  func `is told by its claims`(json: String, kind: PayloadKind?) throws {
    let payload = try #require(JSONReader.read(Array(json.utf8)).object)
    #expect(PayloadKind(of: payload) == kind)
  }

  @Test func `is found out when the caller does not know it`() throws {
    let verifier = try Bench.verifier()
    func kind(_ payload: JSONObject) throws -> PayloadKind {
      switch try verifier.verifyAny(Bench.pki.sign(payload), expecting: ExpectedClaims(), now: Bench.now) {
      case .notification: .notification
      case .transaction: .transaction
      case .renewal: .renewal
      case .appTransaction: .appTransaction
      case .realtimeRequest: .realtimeRequest
      }
    }
    #expect(try kind(Bench.notification()) == .notification)
    #expect(try kind(Bench.transaction) == .transaction)
    #expect(try kind(Bench.renewal) == .renewal)
    #expect(try kind(Bench.appTransaction) == .appTransaction)
    #expect(try kind(["requestIdentifier": "x", "environment": "Sandbox"]) == .realtimeRequest)
  }
}

@Suite struct `A verified app transaction` {
  private static let verifier: SignedDataVerifier = {
    do { return try Bench.verifier() } catch { preconditionFailure("no verifier: \(error)") }
  }()

  @Test(
    arguments: [
      ("Production", Bench.appAppleID, nil), ("Sandbox", nil, nil), ("Production", nil, .missingClaim),
      ("Production", 7, .wrongAppAppleId), ("Sandbox", 7, .wrongAppAppleId), (nil, Bench.appAppleID, .missingClaim),
    ] as [(String?, Int64?, VerificationError.Code?)])
  func `is of the app and environment it says`(
    environment: String?, appAppleID: Int64?, refusal: VerificationError.Code?
  ) throws {
    let payload = Bench.appTransaction.with([
      "receiptType": environment.map(JSONValue.string), "appAppleId": appAppleID.map(JSONValue.integer),
    ])
    let expected = ExpectedClaims(bundleID: Bench.bundleID, appAppleID: Bench.appAppleID)
    let jws = try Bench.pki.sign(payload)
    do throws(VerificationError) {
      let verified = try Self.verifier.verifyAppTransaction(jws, expecting: expected, now: Bench.now)
      #expect(refusal == nil)
      #expect(verified.environment?.rawValue == environment)
      #expect(verified.signedAt == Bench.now)
    } catch {
      #expect(error.code == refusal)
    }
  }
}

@Suite struct `Unsigned test data` {
  private static let xcode = Bench.transaction.with(["environment": "Xcode"])

  @Test func `is accepted only on demand, and marked`() throws {
    let verifier = SignedDataVerifier(roots: .apple)
    let jws = try Bench.stranger.sign(Self.xcode)
    let verified = try verifier.verifyTransaction(
      jws, expecting: ExpectedClaims(environment: .unsignedTestData), now: Bench.now)
    #expect(verified.trust == .unsignedTestData)
    for environment in [ExpectedClaims.Environment.any, .only(.xcode), .only(.production)] {
      #expect(throws: VerificationError(.unsignedTestData, "")) {
        try verifier.verifyTransaction(jws, expecting: ExpectedClaims(environment: environment), now: Bench.now)
      }
    }
  }

  @Test func `is never Production's, whatever the caller allows`() throws {
    let jws = try Bench.stranger.sign(Bench.transaction)
    #expect(throws: VerificationError(.unknownRoot, "")) {
      try SignedDataVerifier(roots: .apple)
        .verifyTransaction(jws, expecting: ExpectedClaims(environment: .unsignedTestData), now: Bench.now)
    }
  }

  @Test func `is signed after all below a root that the operator trusts for it`() throws {
    let verifier = SignedDataVerifier(roots: TrustedRoots.apple.adding([try Bench.pki.trustedRoot()], for: .xcode))
    let expected = ExpectedClaims(environment: .only(.xcode))
    let verified = try verifier.verifyTransaction(Bench.pki.sign(Self.xcode), expecting: expected, now: Bench.now)
    #expect(verified.trust != .unsignedTestData)
    #expect(throws: VerificationError(.unknownRoot, "")) {
      try verifier.verifyTransaction(Bench.stranger.sign(Self.xcode), expecting: expected, now: Bench.now)
    }
  }
}
