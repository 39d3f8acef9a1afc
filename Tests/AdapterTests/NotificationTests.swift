@Suite struct `A notification` {
  @Test func `of an unknown type is kept with its date of signing and no rule`() throws {
    let reading = try Bench.read(Bench.payload("SOMETHING_NEW", "AT_LAST", "data", Bench.data()))
    let event = try #require(reading.findings.events.first)
    #expect(event.rule == nil && event.date == Bench.signed)
    #expect(reading.title == "SOMETHING_NEW/AT_LAST")
    #expect(reading.findings.purchases.count == 1)
    #expect(!reading.survey.isClean)
  }

  @Test func `of a known type with an unknown subtype is of no rule either`() throws {
    let reading = try Bench.read(Bench.payload("DID_RENEW", "SOMEHOW", "data", Bench.data()))
    #expect(reading.findings.events.first?.rule == nil)
    #expect(try Bench.read(Bench.payload(Bench.data())).findings.events.first?.rule == "N-014")
  }

  @Test func `without type makes no event, and its statements count`() throws {
    let reading = try Bench.read(Bench.payload(nil, nil, "data", Bench.data()))
    #expect(reading.findings.events.isEmpty && reading.findings.purchases.count == 1)
    #expect(reading.title == "notification without type")
  }

  @Test(arguments: [
    ("DID_RENEW", nil as String?, -24 as Int64), ("REFUND", nil, 5), ("EXPIRED", "VOLUNTARY", 29 * 24),
    ("PRICE_INCREASE", "PENDING", 0),
  ])
  func `happened when its row says`(type: String, subtype: String?, hours: Int64) throws {
    var transaction = Bench.transaction
    transaction["revocationDate"] = .integer((Bench.signed + .hours(5)).sinceEpoch)
    let event = try Bench.read(Bench.payload(type, subtype, "data", Bench.data(transaction))).findings.events.first
    #expect(event?.rule != nil)
    #expect(event?.date == Bench.signed + .hours(hours))
  }

  @Test func `happened when it was signed where the row's date is missing`() throws {
    let payload = Bench.payload("REFUND", nil, "data", try Bench.data())
    #expect(try Bench.read(payload).findings.events.first?.date == Bench.signed)
  }

  @Test func `about a renewal alone is about its subscription`() throws {
    let payload = Bench.payload(
      "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", "data", try Bench.data(nil, Bench.renewal))
    let findings = try Bench.read(payload).findings
    #expect(findings.events.first?.originalTransactionID == Bench.original)
    #expect(findings.events.first?.line == nil && findings.events.first?.transactionID == nil)
    #expect(findings.renewals.first?.key.originalTransactionID == Bench.original)
  }

  @Test func `gives its environment to a transaction that names none`() throws {
    let old = Bench.with(Bench.transaction, "environment", nil)
    let reading = try Bench.read(Bench.payload(Bench.data(old)))
    #expect(reading.environment == .sandbox && reading.findings.purchases.first?.key.environment == .sandbox)
  }

  @Test(arguments: Environment.allCases)
  func `is of the environment that it names`(environment: Environment) throws {
    let name = JSONValue.string(environment.rawValue)
    let data = try Bench.data(Bench.with(Bench.transaction, "environment", name))
    func isTaken() throws -> Bool {
      try Bench.read(Bench.payload(Bench.with(data, "environment", name))).environment == environment
    }
    switch environment {
    case .production, .sandbox: #expect(try isTaken())
    // Nobody vouches for Xcode's data, unless somebody trusts a root for it: here one does.
    case .xcode, .localTesting: #expect((try? isTaken()) != false)
    }
  }

  @Test func `keeps what each carrier says beside whose it is`() throws {
    let cases: [(String, JSONObject, JSONObject)] = [
      (
        "data", Bench.with(Bench.with(try Bench.data(), "appAppleId", 5), "consumptionRequestReason", "OTHER"),
        ["consumptionRequestReason": "OTHER"]
      ),
      (
        "summary",
        [
          "bundleId": .string(Bench.app), "environment": "Sandbox", "appAppleId": 5, "requestIdentifier": "r",
          "succeededCount": 3,
        ], ["requestIdentifier": "r", "succeededCount": 3]
      ),
      (
        "externalPurchaseToken",
        ["bundleId": .string(Bench.app), "externalPurchaseId": "SANDBOX_1", "tokenCreationDate": 7],
        ["externalPurchaseId": "SANDBOX_1", "tokenCreationDate": 7]
      ),
      (
        "appData",
        [
          "bundleId": .string(Bench.app), "environment": "Sandbox", "future": true,
          "signedAppTransactionInfo": try Bench.signedValue(Bench.download),
        ], ["future": true]
      ),
    ]
    for (carrier, content, details) in cases {
      let reading = try Bench.read(Bench.payload("TEST", nil, carrier, content))
      #expect(reading.findings.events.first?.details == details, "\(carrier)")
      #expect(reading.environment == .sandbox)
      #expect(reading.findings.appTransactions.count == (carrier == "appData" ? 1 : 0))
    }
  }

  @Test func `with an app transaction of before the ids teaches of none`() throws {
    let download = Bench.with(Bench.download, "appTransactionId", nil)
    let content: JSONObject = [
      "bundleId": .string(Bench.app), "environment": "Sandbox",
      "signedAppTransactionInfo": try Bench.signedValue(download),
    ]
    let findings = try Bench.read(Bench.payload("RESCIND_CONSENT", nil, "appData", content)).findings
    #expect(findings.appTransactions.isEmpty && findings.events.count == 1)
  }

  @Test func `links the subscription with the app transaction, once`() throws {
    let links = try Bench.read(Bench.payload(Bench.data(Bench.transaction, Bench.renewal))).findings.links
    #expect(
      links == [
        CustomerLink(
          app: Bench.app, environment: .sandbox, .originalTransactionID(Bench.original), .appTransactionID("700001"))
      ])
    let lonely = Bench.with(Bench.transaction, "appTransactionId", "0")
    #expect(try Bench.read(Bench.payload(Bench.data(lonely))).findings.links.isEmpty)
  }

  /// Neither the time of reading nor what was read before it shows.
  @Test func `is read alike by everybody, at any time and in any order`() throws {
    let story = Story.twoApps(seed: 5, start: Bench.now - .days(200))
    let messages = try story.told(by: Bench.pki, forger: Bench.stranger)
    var random = SeededRandom()
    let seed = random.seed
    let other = MessageDecoder(
      verifier: SignedDataVerifier(roots: TrustedRoots(exactly: [try Bench.pki.trustedRoot()])))
    var first: [[UInt8]: Findings?] = [:]
    for message in messages { first[message.body] = (try? Bench.read(message.body))?.findings }
    #expect(first.values.count { $0 != nil } > 20)
    for message in messages.shuffled(using: &random) {
      let now = Timestamp(.random(in: 0...4_000_000_000_000, using: &random))
      let again = try? other.notification(message.body, message: .sha256(message.body), now: now)
      #expect(again?.findings == first[message.body] ?? nil, "\(message.caption), seed \(seed)")
    }
  }
}
