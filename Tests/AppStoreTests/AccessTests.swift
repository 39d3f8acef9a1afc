@Suite struct `A token` {
  private let now = QuickTime().now

  private func parts(_ token: String) throws -> (header: JSONObject, payload: JSONObject, isSigned: Bool) {
    let segments = token.split(separator: ".").map { Array($0.utf8) }
    try #require(segments.count == 3)
    let header = try #require(Base64.url.decode(segments[0]))
    let payload = try #require(Base64.url.decode(segments[1]))
    let signed = try #require(Base64.url.decode(segments[2]))
    let signature = try #require(RawSignature(bytes: signed))
    let isSigned = try testKey.publicKey().verifies(
      signature, of: .sha256(segments[0] + [UInt8(ascii: ".")] + segments[1]))
    let said = try #require(JSONReader.read(header).object)
    return (said, try #require(JSONReader.read(payload).object), isSigned)
  }

  @Test func `says who asks, for at most an hour, signed with the key`() throws {
    let token = try TokenIssuer().token(for: try testCredentials(), now: now)
    let (header, payload, isSigned) = try parts(token)
    #expect(header == ["alg": "ES256", "kid": "KEY1", "typ": "JWT"])
    #expect(payload["iss"] == "issuer")
    #expect(payload["aud"] == "appstoreconnect-v1")
    #expect(payload["bid"] == "com.example.app")
    let issued = try #require(payload["iat"]?.integer)
    let ends = try #require(payload["exp"]?.integer)
    #expect(issued == now.wholeSeconds - 60)
    #expect(ends - issued <= 3_600)
    #expect(ends > now.wholeSeconds)
    #expect(isSigned)
  }

  @Test func `is kept until shortly before its end, for each app its own`() throws {
    let issuer = TokenIssuer()
    let (one, two) = (try testCredentials(), try testCredentials("com.example.two"))
    let first = try issuer.token(for: one, now: now)
    #expect(try issuer.token(for: one, now: now + .minutes(13)) == first)
    #expect(try issuer.token(for: two, now: now) != first)
    let second = try issuer.token(for: one, now: now + .minutes(14))
    #expect(second != first)
    // A clock that was set back must not keep what it called the future.
    #expect(try issuer.token(for: one, now: now) != second)
  }

  @Test func `ends with its key, and when Apple does not accept it`() async throws {
    let issuer = TokenIssuer()
    let old = try issuer.token(for: try testCredentials(), now: now)
    let successor = try PrivateKey.generate(.p256)
    let credentials = AppCredentials(
      bundleID: Scripted.bundleID, key: try APIKey(issuerID: "issuer", keyID: "KEY1", pem: try successor.pem()))
    let new = try issuer.token(for: credentials, now: now)
    #expect(new != old, "the same ids, another key")
    #expect(try !parts(new).isSigned && parts(old).isSigned)
    try await withAppStore([.text(401, ""), .json([:])]) { scripted in
      for _ in 0..<3 {
        _ = await failure {
          try await scripted.client.send(.transactionInfo("1"), as: scripted.credentials, in: .production)
        }
      }
      let tokens = scripted.apple.asked.map(\.authorization)
      #expect(tokens.count == 3)
      #expect(Set(tokens.prefix(2)).count == 2 && tokens[1] == tokens[2])
    }
  }

  @Test func `cannot be made from what is no P-256 key`() throws {
    #expect(throws: CertificateError.self) {
      _ = try APIKey(issuerID: "i", keyID: "k", pem: Array("no key".utf8))
    }
    let rsa = try PrivateKey.generate(.rsa2048).pem()
    #expect(throws: CertificateError.self) { _ = try APIKey(issuerID: "i", keyID: "k", pem: rsa) }
  }
}

@Suite struct `A diagnosis` {
  @Test(
    arguments: [
      (.production, .unknownTransaction, nil, 0, .keyAccepted), (.production, .found, nil, 0, .accepted),
      (.sandbox, .unknownTransaction, .found, 0, .accepted), (.production, .rateLimited, nil, 0, .unclear),
      (.production, .failed(.overBudget), nil, 0, .unclear),
      (.production, .unauthorized, .failed(.overBudget), 0, .wrongKeyOrIssuer),
      (.production, .unauthorized, .unauthorized, 0, .wrongKeyOrIssuer),
      (.production, .unauthorized, .unknownTransaction, 0, .noProductionRelease),
      (.production, .unauthorized, .failed(.unreachable), 0, .wrongKeyOrIssuer),
      (.sandbox, .unauthorized, .unknownTransaction, 0, .wrongKeyOrIssuer),
      (.production, .unauthorized, .unauthorized, 90, .skewedClock),
      (.production, .unauthorized, .unauthorized, -3_600, .skewedClock),
      (.production, .unauthorized, .unauthorized, 59, .wrongKeyOrIssuer),
      (.production, .unauthorized, .unauthorized, -90, .wrongKeyOrIssuer),
      (.production, .unauthorized, .unauthorized, -19 * 60, .wrongKeyOrIssuer),
      (.production, .unauthorized, .unauthorized, -19 * 60 - 1, .skewedClock),
      (.production, .unknownTransaction, nil, 90, .keyAccepted), (.sandbox, .emptyList, nil, 0, .wrongBundle),
      (.sandbox, .appNotFound, nil, 0, .wrongBundle), (.sandbox, .failed(.untrusted), nil, 0, .unreachable),
      (.sandbox, .failed(.serverFailed), nil, 0, .unclear),
    ]
      as [(
        APIEnvironment, AccessDiagnosis.Observation, AccessDiagnosis.Observation?, Int64, AccessDiagnosis.Outcome
      )])
  func `tells apart what looks the same`(
    environment: APIEnvironment, seen: AccessDiagnosis.Observation, other: AccessDiagnosis.Observation?, skew: Int64,
    verdict: AccessDiagnosis.Outcome
  ) {
    let diagnosis = AccessDiagnosis(environment, seen, other: other, skew: .seconds(skew), askedAboutOwn: false)
    #expect(diagnosis.verdict == verdict)
    #expect(!diagnosis.explanation.isEmpty)
  }

  @Test(
    arguments: [
      (.unknownTransaction, .unknownTransaction, .wrongBundle), (.unknownTransaction, .found, .accepted),
      (.unknownTransaction, .unauthorized, .keyAccepted), (.unknownTransaction, .failed(.overBudget), .keyAccepted),
    ] as [(AccessDiagnosis.Observation, AccessDiagnosis.Observation, AccessDiagnosis.Outcome)])
  func `takes an id of the app's that is unknown everywhere as word of a wrong bundle id`(
    seen: AccessDiagnosis.Observation, other: AccessDiagnosis.Observation, verdict: AccessDiagnosis.Outcome
  ) {
    #expect(AccessDiagnosis(.sandbox, seen, other: other, skew: nil, askedAboutOwn: true).verdict == verdict)
  }

  @Test func `believes in the bundle id only when an id of the app's is found`() async throws {
    try await withAppStore([.error(4_040_010)]) { scripted in
      let nobody = await scripted.client.check(scripted.credentials)
      #expect(nobody.map(\.verdict) == [.keyAccepted, .keyAccepted])
      let own = await scripted.client.check(scripted.credentials, transactionID: "2")
      #expect(own.map(\.verdict) == [.wrongBundle, .wrongBundle])
    }
    try await withAppStore([.error(4_040_010), .json(["signedTransactions": ["x"]])]) { scripted in
      let own = await scripted.client.check(scripted.credentials, transactionID: "2")
      #expect(own.map(\.verdict) == [.accepted, .accepted])
    }
  }

  @Test func `knows nothing where our own budget kept it from asking`() async throws {
    let later = "\((QuickTime().now + .minutes(40)).sinceEpoch)"
    try await withAppStore([.error(4_290_000, retryAfter: later), .error(4_040_010)]) { scripted in
      _ = await failure {
        try await scripted.client.send(.transactionHistory(of: "1"), as: scripted.credentials, in: .sandbox)
      }
      let diagnoses = await scripted.client.check(scripted.credentials)
      #expect(diagnoses.map(\.verdict) == [.keyAccepted, .unclear])
      #expect(scripted.apple.asked.map(\.target) == ["/sandbox/inApps/v2/history/1", "/inApps/v2/history/1"])
    }
    // Nor does it make a 401 of Production's mean that the sandbox would accept the key.
    var refusal = HTTPResponse.text(401, "")
    refusal.headers.append("Date", "Thu, 28 May 2026 20:26:40 GMT")
    try await withAppStore([.error(4_290_000, retryAfter: later), refusal]) { scripted in
      _ = await failure {
        try await scripted.client.send(.transactionHistory(of: "1"), as: scripted.credentials, in: .sandbox)
      }
      #expect(await scripted.client.check(scripted.credentials).map(\.verdict) == [.wrongKeyOrIssuer, .unclear])
    }
  }

  @Test func `is made from two questions and Apple's clock`() async throws {
    try await withAppStore([.text(401, ""), .error(4_040_010)]) { scripted in
      // The server's Date is the machine's; the client's clock stands where no machine is.
      let diagnoses = await scripted.client.check(scripted.credentials)
      #expect(diagnoses.map(\.environment) == [.production, .sandbox])
      #expect(diagnoses.map(\.verdict) == [.skewedClock, .keyAccepted])
      #expect(
        scripted.apple.asked.map(\.target) == ["/inApps/v2/history/1", "/sandbox/inApps/v2/history/1"])
    }
    try await withAppStore([.json(["hasMore": false, "signedTransactions": []])]) { scripted in
      #expect(await scripted.client.check(scripted.credentials).map(\.verdict) == [.wrongBundle, .wrongBundle])
    }
  }
}
