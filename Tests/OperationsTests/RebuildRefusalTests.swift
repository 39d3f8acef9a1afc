/// Messages of the inbox that an earlier build took and this one refuses.
@Suite struct `A rebuild of messages that are refused by now` {
  private static let now = Operated.now
  private let adapter = MessageDecoder(verifier: SignedDataVerifier(roots: .apple))

  /// Stores a message as an earlier build did, with a purchase that it told of.
  private func store(
    _ text: String, as kind: InboxMessage.Kind = .notification, original: String = "1", _ here: Operated
  ) async throws -> Digest {
    let message = InboxMessage(
      kind: kind, body: Array(text.utf8), claim: SubmissionMetadata(environment: .sandbox), receivedAt: Self.now)
    var findings = Findings(app: Operated.bundleID, environment: .sandbox)
    var facts = Facts<PurchaseField>()
    facts.set(.productId, .string("monthly"))
    findings.purchases = [
      PurchaseStatement(
        key: PurchaseKey(
          app: Operated.bundleID, environment: .sandbox, originalTransactionID: original, line: Line(text: "")),
        source: .notificationV1, rank: Rank(asOf: Self.now, tieBreak: message.digest.bytes), facts: facts,
        message: message.digest.bytes)
    ]
    let accepted = LedgerEntry.AcceptedMessage(app: here.app.id, findings: findings, signedAt: nil, title: "V1 X")
    let pool = Pool(here.configuration)
    #expect(try await LedgerStore(pool: pool).append([LedgerEntry(message, .accepted(accepted))]) == [.stored])
    await pool.close()
    return message.digest
  }

  private func inbox(_ here: Operated) async throws -> Int {
    try await here.connection.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) AS kept FROM inbox").first?.int("kept") ?? 0
    }
  }

  private static let claims = [
    // A name twice, as a redaction once left it; a decoy of what makes a V2 notification.
    #"{"notification_type":"X","bid":"com.example.app","environment":"Sandbox","[redacted]":1,"[redacted]":2}"#,
    #"{"notification_type":"X","bid":"com.example.app","environment":"Sandbox","a":1,"a":{"signedPayload":"a.b.c"}}"#,
    #"{"notification_type":"X","signedPayload":1,"a":1,"a":2,"b":"\"signedPayload\":\"a.b.c\""}"#,
    // Nothing by which its environment could be known.
    #"{"notification_type":"X","bid":"com.example.app"}"#,
  ]

  private static let decoys = [
    #"{"status":21003,"receipt-data":"TUk="}"#,
    #"{"originalTransactionId":"$","receipt-data":1,"signedTransactions":[]}"#,
    #"{"status":21003,"receipt":{"receipt-data":"TUk="},"signedAppTransactionInfo":"eyJ.eyJ.eyJ"}"#,
  ]

  @Test func `leaves out what is claimed, and says so in the rehearsal and in the result`() async throws {
    let here = try await Operated()
    var digests: Set<Digest> = []
    for (number, text) in Self.claims.enumerated() {
      digests.insert(try await store(text, original: "\(number + 1)", here))
    }
    let evidence = #"{"notification_type":"X","environment":"Sandbox","a":1,"a":2}"#
    digests.insert(try await store(evidence, as: .evidence, original: "9", here))
    // What would be signed, had it stood where a receipt or a signed payload is read.
    for (number, text) in Self.decoys.enumerated() {
      digests.insert(try await store(text, as: .evidence, original: "9\(number)", here))
    }
    let rebuild = RebuildLedger(here.configuration, .ofTests, readBy: adapter) { _ in }
    let before = try await here.contents()
    let plan = try await rebuild.plan(at: Self.now)
    #expect(try await here.contents() == before)
    #expect(plan.refused.count == 8 && plan.messages == 8)
    #expect(Set(plan.refused.examples.map(\.digest)) == digests)
    #expect(Set(plan.refused.examples.map(\.reason)).isSuperset(of: ["notJSON", "environmentUnknown"]))
    // What was known from them alone.
    #expect(!plan.isEqual && plan.gone.count >= 8 && plan.new.count == 0)
    let summary = try await rebuild.apply(by: Operated.kim, at: Self.now)
    #expect(summary.refused == plan.refused && summary.messages == plan.messages)
    #expect(try await here.audit() == ["db.rebuild database 8 messages, 8 left out: ticket 4"])
    #expect(try await inbox(here) == 8)
    let again = try await rebuild.plan(at: Self.now)
    #expect(again.isEqual && again.refused == plan.refused)
  }

  @Test func `names ten of them`() async throws {
    let here = try await Operated()
    for number in 0..<12 {
      _ = try await store(#"{"notification_type":"X","n":\#(number),"a":1,"a":2}"#, original: "\(number + 1)", here)
    }
    let plan = try await RebuildLedger(here.configuration, .ofTests, readBy: adapter) { _ in }.plan(at: Self.now)
    #expect(plan.refused.count == 12 && plan.refused.examples.count == 10)
  }

  @Test(arguments: [
    (InboxMessage.Kind.notification, #"{"signedPayload":"a.b.c"}"#),
    (.notification, #"{"notification_type":"X","\u0073ignedPayload":"a.b.c","a":1,"a":2}"#),
    (.notification, #"{"signedPayload":"a.b.c"#), (.notificationHistory, #"{"notification_type":"X","a":1,"a":2}"#),
    (.verifyReceiptAnswer, #"{"status":0,"a":1,"a":2}"#), (.apiAnswer, #"{"a":1,"a":2}"#),
    (.evidence, #"{"receipt-data":"TUk=","a":1,"a":2}"#), (.evidence, "MIIB"), (.evidence, "eyJ.eyJ.eyJ"),
  ])
  func `ends at what Apple vouches for, and changes nothing`(kind: InboxMessage.Kind, text: String) async throws {
    let here = try await Operated()
    let digest = try await store(text, as: kind, here)
    let rebuild = RebuildLedger(here.configuration, .ofTests, readBy: adapter) { _ in }
    let before = try await here.contents()
    let planned = await #expect(throws: RefusedMessage.self) { try await rebuild.plan(at: Self.now) }
    let applied = await #expect(throws: RefusedMessage.self) {
      try await rebuild.apply(by: Operated.kim, at: Self.now)
    }
    #expect(planned?.digest == digest && applied?.digest == digest)
    #expect(try await here.contents() == before)
  }
}
