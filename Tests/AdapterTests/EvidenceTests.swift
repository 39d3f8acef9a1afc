@Suite struct `Evidence` {
  private func item(_ original: String, _ transaction: JSONObject?, _ renewal: JSONObject?) throws -> JSONValue {
    var item: JSONObject = ["originalTransactionId": .string(original), "status": 1]
    item["signedTransactionInfo"] = try transaction.map(Bench.signedValue)
    item["signedRenewalInfo"] = try renewal.map(Bench.signedValue)
    return .object(item)
  }

  private func other(_ payload: JSONObject, _ id: String) -> JSONObject {
    var changed = payload
    if payload["transactionId"] != nil { changed["transactionId"] = .string(id) }
    changed["originalTransactionId"] = .string(id)
    changed["appTransactionId"] = nil
    return changed
  }

  @Test func `of statuses states all there is, and makes one customer of it if we fetched it`() throws {
    let answer: JSONObject = [
      "bundleId": .string(Bench.app), "appAppleId": 5, "environment": "Sandbox",
      "data": [
        [
          "subscriptionGroupIdentifier": "21",
          "lastTransactions": [try item(Bench.original, Bench.transaction, Bench.renewal)],
        ],
        [
          "subscriptionGroupIdentifier": "22",
          "lastTransactions": [try item("9", other(Bench.transaction, "9"), other(Bench.renewal, "9"))],
        ],
      ],
    ]
    let reading = try Bench.evidence(answer)
    #expect(reading.title == "statuses of 4" && reading.appAppleID == 5 && reading.signedAt == Bench.signed)
    #expect(reading.findings.purchases.count == 2 && reading.findings.renewals.count == 2)
    #expect(reading.findings.events.isEmpty)
    let links = Set(reading.findings.links.map { "\($0.a.text) \($0.b.text)" })
    // Each row is signed, that they are of one customer is not: anybody can put two customers' rows into one body.
    #expect(links == ["o\(Bench.original) t700001"])
    #expect(reading.findings.claimedLinks.map { "\($0.a.text) \($0.b.text)" } == ["o\(Bench.original) o9"])
    let fetched = try Bench.fetched(answer).findings
    #expect(Set(fetched.links.map { "\($0.a.text) \($0.b.text)" }) == links.union(["o\(Bench.original) o9"]))
    #expect(fetched.claimedLinks.isEmpty)
  }

  @Test func `of a renewal alone is of the envelope's app`() throws {
    let answer: JSONObject = [
      "bundleId": .string(Bench.app), "environment": "Sandbox",
      "data": [["lastTransactions": [try item(Bench.original, nil, Bench.renewal)]]],
    ]
    #expect(try Bench.evidence(answer).findings.renewals.first?.key.app == Bench.app)
    #expect(throws: MessageError(.authentic, .wrongBundle, "")) {
      try Bench.evidence(Bench.with(answer, "bundleId", "com.example.other"))
    }
  }

  /// Refund history and an order look like a history with less around it.
  @Test(
    arguments: [
      ["revision": "r", "hasMore": false, "bundleId": .string(Bench.app), "environment": "Sandbox"],
      ["revision": "r", "hasMore": true], ["status": 0], [:],
    ] as [JSONObject])
  func `of history, refunds or an order states every transaction`(around: JSONObject) throws {
    var second = other(Bench.transaction, "9")
    second["signedDate"] = .integer((Bench.signed + .minutes(1)).sinceEpoch)
    let answer = Bench.with(
      around, "signedTransactions", [try Bench.signedValue(Bench.transaction), try Bench.signedValue(second)])
    let reading = try Bench.evidence(answer)
    let isOrder = around["status"] != nil
    #expect(reading.title == "\(isOrder ? "order" : "history") of 2" && reading.signedAt == Bench.signed + .minutes(1))
    #expect(reading.findings.originalTransactionIDs == [Bench.original, "9"])
    #expect(reading.findings.links.count == 1 && reading.findings.claimedLinks.count == 1)
    #expect(try Bench.fetched(answer).findings.links.count == 2)
  }

  @Test func `of one signed payload is the same bare and in its answer`() throws {
    for (member, payload) in [
      ("signedTransactionInfo", Bench.transaction), ("signedRenewalInfo", Bench.renewal),
      ("signedAppTransactionInfo", Bench.download),
    ] {
      let jws = try Bench.sign(payload)
      let answered = try Bench.evidence(Bench.with([:], member, .string(jws)))
      let bare = try Bench.evidence(Array(" \n\(jws)\r\n".utf8))
      #expect(answered.title == bare.title && answered.signedAt == Bench.signed)
      let found = [answered, bare].map(\.findings)
      #expect(found.map(\.purchases.count) == (payload == Bench.transaction ? [1, 1] : [0, 0]))
      #expect(found.map(\.renewals.count) == (payload == Bench.renewal ? [1, 1] : [0, 0]))
      #expect(found.map(\.appTransactions.count) == (payload == Bench.download ? [1, 1] : [0, 0]))
    }
  }

  /// Apple's API gives now and then a transaction without bundleId.
  @Test func `of a transaction that names no app is of the app whose envelope is proven, else an id to ask by`() throws
  {
    let unnamed = Bench.with(other(Bench.transaction, "9"), "bundleId", nil)
    let told = try Bench.read(Bench.payload(Bench.data(unnamed))).findings
    #expect(told.purchases.map(\.key.app) == [Bench.app])
    let history: JSONObject = [
      "bundleId": .string(Bench.app), "environment": "Sandbox",
      "signedTransactions": [try Bench.signedValue(unnamed), try Bench.signedValue(Bench.transaction)],
    ]
    let fetched = try Bench.fetched(history)
    #expect(fetched.title == "history of 2")
    #expect(fetched.findings.purchases.map(\.key.app) == [Bench.app, Bench.app])
    // Somebody may have bought it in another app, and send it to this one.
    let seed = TransactionReference(app: Bench.app, environment: .sandbox, transactionID: "9", isSigned: true)
    let handedIn = try Bench.evidence(history).findings
    #expect(handedIn.originalTransactionIDs == [Bench.original])
    #expect(handedIn.seeds.contains(seed))
    let bare = try Bench.evidence(signing: unnamed)
    #expect(bare.title == "transaction without bundleId")
    #expect(bare.findings.purchases.isEmpty)
    #expect(bare.findings.seeds == [seed])
  }

  @Test func `of an answer leaves out a row that is none, and refuses it if nothing else is there`() throws {
    let odd = [Bench.renewal, Bench.with(Bench.transaction, "originalTransactionId", nil)]
    for row in odd {
      let answer: JSONObject = [
        "bundleId": .string(Bench.app), "environment": "Sandbox",
        "signedTransactions": [try Bench.signedValue(row), try Bench.signedValue(Bench.transaction)],
      ]
      let reading = try Bench.fetched(answer)
      #expect(reading.findings.originalTransactionIDs == [Bench.original])
      #expect(reading.survey.unusableFields == ["signedTransactions[]"])
      #expect(throws: MessageError.self) {
        try Bench.fetched(Bench.with(answer, "signedTransactions", [try Bench.signedValue(row)]))
      }
    }
    let forged: JSONObject = [
      "signedTransactions": [
        .string(try Bench.sign(Bench.transaction, by: Bench.stranger)), try Bench.signedValue(Bench.transaction),
      ]
    ]
    #expect(throws: MessageError.self) { try Bench.fetched(forged) }
  }

  @Test func `may be a notification`() throws {
    let body = try Bench.body(Bench.payload(Bench.data()))
    var expected = try Bench.read(body).findings
    expected.seeds = expected.originalTransactionIDs.map {
      TransactionReference(app: expected.app, environment: expected.environment, transactionID: $0)
    }
    let findings = try Bench.evidence(body).findings
    #expect(findings == expected)
  }

  /// The payload's own word, then the request's, then the envelope's unless it says Production.
  @Test(arguments: [
    ("Sandbox" as JSONValue?, nil as JSONValue?, nil as Environment?, Environment.sandbox),
    ("Sandbox", "Sandbox", .sandbox, .sandbox), ("Production", nil, .production, .production),
    ("Production", "Production", nil, .production), (nil, "Sandbox", nil, .sandbox),
    (nil, "Sandbox", .sandbox, .sandbox), (nil, "Production", .production, .production), (nil, nil, .sandbox, .sandbox),
    (nil, nil, .production, .production),
  ])
  func `is of the environment that somebody to be believed names`(
    payload: JSONValue?, envelope: JSONValue?, request: Environment?, expected: Environment
  ) throws {
    let transaction = Bench.with(Bench.transaction, "environment", payload)
    let answer = Bench.with(
      ["signedTransactions": [try Bench.signedValue(transaction)]], "environment", envelope)
    let reading = try Bench.evidence(answer, in: request)
    #expect(reading.environment == expected)
    #expect(reading.findings.purchases.first?.key.environment == expected)
  }
}
