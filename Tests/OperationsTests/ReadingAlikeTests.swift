@testable import Operations

/// What is read of a message when it arrives, in a replay from quarantine and in a rebuild, each by way of the tables.
@Suite struct `A kept message of any kind` {
  private static let bundleID = Operated.bundleID
  private static let password = "an old secret"
  private let now = Operated.now
  private let pki: ApplePKI
  private let receipts: ReceiptPKI
  private let intake: IngestDecider
  private let adapter: MessageDecoder

  init() throws {
    pki = try ApplePKI.generate(at: now)
    receipts = ReceiptPKI.known(at: now)
    adapter = MessageDecoder(
      verifier: SignedDataVerifier(roots: TrustedRoots(exactly: [try pki.trustedRoot()])),
      receipts: ReceiptReader(trust: ReceiptTrust(exactly: [try receipts.trustedRoot()])))
    intake = IngestDecider(adapter: adapter)
  }

  @Test func `is read alike when it arrives, when it is replayed and when the ledger is rebuilt`() async throws {
    let here = try await Operated()
    let directory = AppRegistrySnapshot(
      apps: [here.app], tokens: [:],
      secrets: SharedSecrets([here.app.id: [Array(Self.password.utf8)]]))
    let messages = try messages()
    #expect(Set(messages.map(\.kind)) == Set(InboxMessage.Kind.allCases))
    var arrived: [Digest: Findings] = [:]
    for message in messages {
      let decision =
        switch message.kind {
        case .notification, .notificationHistory:
          try intake.notification(message, ReceivedBody(message.body), directory: directory)
        case .evidence, .verifyReceiptAnswer, .apiAnswer, .verifiedReceipt:
          try intake.decision(on: message, about: here.app)
        }
      arrived[message.digest] = try #require(decision.reading, "\(String(describing: decision.refusal))").findings
    }
    try expectWhatTheyTell(messages, arrived)

    let pool = Pool(here.configuration)
    let ledger = LedgerStore(pool: pool)
    let refusal = LedgerEntry.QuarantineReason(source: .legacy, code: "test", detail: "", claimedApp: Self.bundleID)
    let setAside = try await ledger.append(messages.map { LedgerEntry($0, .quarantined(refusal)) })
    #expect(setAside.allSatisfy { $0 == .quarantined })
    let kept = try await here.connection.read { session throws(DatabaseError) in
      try QuarantineTable.page(after: nil, code: nil, digestPrefix: nil, limit: 100, in: session)
    }
    #expect(kept.count == messages.count)
    let replay = QuarantineReading(intake: intake, directory: directory, startedAt: now)
    var (entries, replayed) = ([LedgerEntry](), [Digest: Findings]())
    for message in kept {
      guard case .accepted(let entry) = replay.outcome(of: message), case .accepted(let accepted) = entry.content else {
        Issue.record("\(message.message.kind) is refused")
        continue
      }
      entries.append(entry)
      replayed[message.message.digest] = accepted.findings
    }
    #expect(replayed == arrived)

    #expect(try await ledger.append(entries).allSatisfy { $0 == .stored })
    let stored = try await here.connection.read { session throws(DatabaseError) in
      try InboxTable.newest(limit: 100, digestPrefix: nil, in: session)
    }
    var rebuilt: [Digest: Findings] = [:]
    for message in stored { rebuilt[message.message.digest] = try adapter.findings(of: message) }
    #expect(rebuilt == replayed)
    await pool.close()
  }

  /// What the bodies do not tell, but what stands beside them.
  private func expectWhatTheyTell(_ messages: [InboxMessage], _ findings: [Digest: Findings]) throws {
    for message in messages {
      let found = try #require(findings[message.digest])
      #expect(found.app == Self.bundleID && found.environment == .sandbox && !found.purchases.isEmpty)
      switch message.kind {
      case .notification, .notificationHistory: break
      case .evidence: #expect(found.userIDs.count == (message.claim?.userID == nil ? 0 : 1))
      case .verifyReceiptAnswer: #expect(found.isFetched)
      case .verifiedReceipt: #expect(!found.seeds.isEmpty && found.userIDs.isEmpty)
      case .apiAnswer: #expect(found.furtherAliases.map(\.id) == (message.claim == nil ? [] : ["MX1"]))
      }
    }
  }

  private func messages() throws -> [InboxMessage] {
    let sandbox = SubmissionMetadata(environment: .sandbox)
    var flat = row("5")
    flat["bid"] = .string(Self.bundleID)
    let old = try answer(["signedTransactions": [signed("7", environment: nil)]])
    return [
      try notification("1", .notification), try notification("2", .notificationHistory),
      InboxMessage(notification: legacyBody("3"), receivedAt: now),
      InboxMessage(notification: legacyBody("4"), kind: .notificationHistory, receivedAt: now),
      // Of iOS 6: only the endpoint told that it is of the sandbox.
      about(.verifyReceiptAnswer, answer(["status": 0, "receipt": .object(flat)]), sandbox),
      about(
        .apiAnswer, try answer(["orderId": "MX1", "signedTransactions": [signed("6", environment: nil)]]), sandbox),
      // As builds set it aside that noted no claim.
      InboxMessage(
        kind: .apiAnswer, body: old,
        identity: MessageIdentity(ofEvidence: old, app: Self.bundleID, environment: .sandbox).bytes, receivedAt: now),
      about(
        .evidence, try answer(["signedTransactionInfo": signed("8", environment: nil)]),
        SubmissionMetadata(environment: .sandbox, userID: "ada")),
      about(
        .evidence, try answer(["signedTransactionInfo": signed("9", environment: "Sandbox")]), SubmissionMetadata()),
    ] + (try postedReceipts())
  }

  /// One that signs its environment, and one of iOS 6, which the endpoint alone places.
  private func postedReceipts() throws -> [InboxMessage] {
    var ids = IdentifierSource(environment: .sandbox, seed: 15, life: 1)
    let app = SimulatedApp(name: "", bundleID: Self.bundleID, appAppleID: 1)
    let customer = Customer(name: "Ada", storefront: .unitedStates, appTransactionID: ids.appTransactionID())
    let sold = (0..<3).map { _ in
      SimulatedTransaction(
        of: Product(.nonConsumable, id: "forever", price: 990), by: customer, in: app, at: now - .days(2), ids: &ids)
    }
    var flat = SimulatedTransactionReceipt(sold[2])
    flat.environment = nil
    let text = try SimulatedReceipt(of: app, purchases: Array(sold.prefix(2)), createdAt: now - .days(1))
      .encoded(signedBy: receipts)
    return [
      about(.verifiedReceipt, text, SubmissionMetadata(environment: .sandbox)),
      about(
        .verifiedReceipt, try flat.encoded(signedBy: receipts.transactionSigner),
        SubmissionMetadata(environment: .sandbox)),
    ]
  }

  private func about(_ kind: InboxMessage.Kind, _ body: [UInt8], _ claim: SubmissionMetadata) -> InboxMessage {
    InboxMessage(kind, body, app: Self.bundleID, claim: claim, receivedAt: now)
  }

  private func answer(_ members: JSONObject) -> [UInt8] { members.encoded() }

  private func notification(_ id: String, _ kind: InboxMessage.Kind) throws -> InboxMessage {
    let payload: JSONObject = [
      "notificationType": "SUBSCRIBED", "subtype": "INITIAL_BUY", "notificationUUID": .string("uuid \(id)"),
      "version": "2.0", "signedDate": .integer(now.sinceEpoch),
      "data": [
        "bundleId": .string(Self.bundleID), "environment": "Sandbox",
        "signedTransactionInfo": try signed(id, environment: "Sandbox"),
      ],
    ]
    let body: JSONObject = ["signedPayload": try jws(payload)]
    return InboxMessage(notification: body.encoded(), kind: kind, receivedAt: now)
  }

  private func legacyBody(_ id: String) -> [UInt8] {
    let body: JSONObject = [
      "notification_type": "DID_RENEW", "password": .string(Self.password), "environment": "Sandbox",
      "bid": .string(Self.bundleID),
      "unified_receipt": ["status": 0, "environment": "Sandbox", "latest_receipt_info": [.object(row(id))]],
    ]
    return body.encoded()
  }

  private func row(_ id: String) -> JSONObject {
    [
      "quantity": "1", "product_id": "monthly", "transaction_id": .string(id),
      "original_transaction_id": .string(id), "web_order_line_item_id": .string("1\(id)"),
      "purchase_date_ms": .string(String((now - .hours(1)).sinceEpoch)),
      "original_purchase_date_ms": .string(String((now - .hours(1)).sinceEpoch)),
      "expires_date_ms": .string(String((now + .days(29)).sinceEpoch)),
    ]
  }

  private func signed(_ id: String, environment: String?) throws -> JSONValue {
    var payload: JSONObject = [
      "transactionId": .string(id), "originalTransactionId": .string(id), "bundleId": .string(Self.bundleID),
      "productId": "monthly", "purchaseDate": .integer(now.sinceEpoch),
      "originalPurchaseDate": .integer(now.sinceEpoch),
      "expiresDate": .integer((now + .days(30)).sinceEpoch), "quantity": 1, "type": "Auto-Renewable Subscription",
      "inAppOwnershipType": "PURCHASED", "signedDate": .integer(now.sinceEpoch),
    ]
    payload["environment"] = environment.map(JSONValue.string)
    return try jws(payload)
  }

  private func jws(_ payload: JSONObject) throws -> JSONValue {
    .string(String(decoding: try pki.sign(payload), as: UTF8.self))
  }
}
