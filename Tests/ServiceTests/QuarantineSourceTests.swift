@testable import Intake
@testable import Service

/// Which source of quarantine a message falls to, for every code with which one can be refused.
@Suite struct `The source of a refused message` {
  @Test(arguments: VerificationError.Code.allCases)
  func `is Apple's for a code of verification only once the signature was verified`(code: VerificationError.Code) {
    let error = VerificationError(code, "why")
    #expect(MessageError(error, isMessage: true).quarantine == .unproven)
    #expect(MessageError(error.proven(), isMessage: true).quarantine == .authentic)
  }

  /// Receipts come as evidence, which the back end mends itself, or inside V1 bodies, which they never refuse.
  @Test(arguments: ReceiptError.Code.allCases)
  func `is none for a receipt, which is no notification`(code: ReceiptError.Code) async throws {
    #expect(MessageError(ReceiptError(code, "why")).quarantine != .legacy)
    #expect(throws: MessageError(.unreadable, .notAMessage, "")) {
      let message = InboxMessage(kind: .notification, body: Array("MIIT".utf8), receivedAt: RunningService.now)
      let adapter = MessageDecoder(verifier: SignedDataVerifier(roots: .apple))
      _ = try IngestDecider(adapter: adapter).notification(
        message, ReceivedBody(message.body), directory: AppRegistrySnapshot(apps: [], tokens: [:]))
    }
  }

  private static let secret = "0123456789abcdef0123456789abcdef"

  private static func legacy(_ change: (inout JSONObject) -> Void = { _ in }) -> [UInt8] {
    var body: JSONObject = [
      "notification_type": "DID_RENEW", "password": .string(secret), "bid": .string(RunningService.app),
      "environment": "Sandbox", "original_transaction_id": 1_000,
    ]
    change(&body)
    return body.encoded()
  }

  private static func rows(_ count: Int, id: String = "1") -> JSONValue {
    let row: JSONObject = ["transaction_id": .string(id), "original_transaction_id": .string(id)]
    return ["latest_receipt_info": .array(Array(repeating: .object(count == 1 ? row : [:]), count: count))]
  }

  /// V1 bodies and what is wrong with each.
  private static let legacyRows: [(code: MessageError.Code, body: [UInt8])] = [
    (.unknownApp, legacy { $0["bid"] = "com.example.unregistered" }),
    (.appNotNamed, legacy { ($0["bid"], $0["password"]) = (nil, "guessed") }),
    (.missingSharedSecret, legacy { $0["password"] = nil }),
    (.wrongSharedSecret, legacy { $0["password"] = "guessed" }),
    (.secretRepeated, legacy { $0["x"] = .string(secret) }),
    (.wrongBundle, legacy { $0["latest_receipt_info"] = ["bid": "com.example.other"] }),
    (.environmentUnknown, legacy { $0["environment"] = "Moon" }),
    (.environmentUnknown, legacy { $0["environment"] = "Xcode" }),
    (.tooManyRows, legacy { $0["unified_receipt"] = rows(301) }),
    (.valueTooLong, legacy { $0["unified_receipt"] = rows(1, id: String(repeating: "9", count: 100)) }),
  ]

  /// Signed notifications and what is wrong with each.
  private func signedRows(_ service: RunningService) throws -> [(code: MessageError.Code, path: String, body: [UInt8])]
  {
    func signed(
      _ change: (inout JSONObject, inout JSONObject, inout JSONObject) -> Void = { _, _, _ in }
    ) throws -> [UInt8] {
      try service.notification(id: "3000000000000001", change)
    }
    return [
      (
        .unknownApp, "",
        try signed { transaction, data, _ in
          (transaction["bundleId"], data["bundleId"]) = ("com.example.unregistered", "com.example.unregistered")
        }
      ),
      (.wrongBundle, "/com.example.other", try signed()),
      (.wrongAppAppleId, "", try signed { _, data, _ in data["appAppleId"] = 1 }),
      (
        .valueTooLong, "",
        try signed { transaction, _, _ in transaction["productId"] = .string(String(repeating: "p", count: 300)) }
      ),
    ]
  }

  /// Codes with which no notification is set aside, and why.
  private static let elsewhere: [MessageError.Code: String] = [
    .notJSON: "400, not kept", .notAMessage: "400, not kept",
    .notificationV1NotYet: "the intake names the sender of every V1 body",
    .verifyReceiptStatus: "an answer of verifyReceipt, see below",
    .unknownSubscription: "evidence, not kept", .userIdContradicts: "evidence, not kept",
    .missingIdentity: "as valueTooLong: after the signature",
    .missingSignedDate: "as valueTooLong: after the signature",
    .appAppleIdNotRegistered: "Production alone, as unknownApp", .noSharedSecret: "posted before there is a secret",
  ]

  @Test func `is V1's for every V1 body, Apple's for what it signed, and none for what is unreadable`() async throws {
    try await RunningService.with { service in
      func expect(_ code: MessageError.Code, _ source: QuarantineSource, _ body: [UInt8], path: String = "")
        async throws
      {
        let answer = try await service.post("/notifications" + path, body)
        #expect(answer.body["status"] == "quarantined", "\(code) \(answer)")
        let kept = try await service.pool.read { session throws(DatabaseError) in
          let kept = try QuarantineTable.reasons(in: session)
          for message in try QuarantineTable.page(after: nil, code: nil, digestPrefix: nil, limit: 10, in: session) {
            try QuarantineTable.release([message.message.digest], in: session)
          }
          return kept
        }
        #expect(kept.map(\.code) == [code.rawValue] && kept.map(\.source) == [source.rawValue], "\(code) \(kept)")
      }
      try await expect(.noSharedSecret, .legacy, Self.legacy())
      try await service.register(secret: Self.secret)
      for row in Self.legacyRows { try await expect(row.code, .legacy, row.body) }
      let signed = try signedRows(service)
      for row in signed { try await expect(row.code, .authentic, row.body, path: row.path) }
      for body in ["{", "{\"hello\":1}", "MIIT"] {
        #expect(try await service.post("/notifications", Array(body.utf8)).status == 400)
      }
      // Signed, but no notification: whoever bought something has one.
      let transaction = try service.pki.sign(["bundleId": .string(RunningService.app), "environment": "Sandbox"])
      let posed: JSONObject = ["signedPayload": .string(String(decoding: transaction, as: UTF8.self))]
      #expect(try await service.post("/notifications", posed.encoded()).body["status"] == "quarantined")
      let source = try await service.pool.read { session throws(DatabaseError) in
        try QuarantineTable.reasons(in: session).map(\.source)
      }
      #expect(source == ["unproven"])
      let covered = Set((Self.legacyRows.map(\.code) + signed.map(\.code)).map(\.rawValue))
      let others = Set(Self.elsewhere.keys.map(\.rawValue))
      #expect(
        covered.union(others) == Set(MessageError.Code.allCases.map(\.rawValue)) && covered.isDisjoint(with: others))
    }
  }

  @Test func `is of its own for an answer that was fetched`() {
    let intake = IngestDecider(adapter: MessageDecoder(verifier: SignedDataVerifier(roots: .apple)))
    let app = App(id: App.ID(1), bundleID: RunningService.app, appAppleID: nil)
    for kind in [InboxMessage.Kind.verifyReceiptAnswer, .apiAnswer] {
      let message = InboxMessage(
        kind: kind, body: Array("{\"status\":21199}".utf8), claim: SubmissionMetadata(environment: .sandbox),
        receivedAt: RunningService.now)
      guard case .quarantined(let refusal) = intake.answer(message, about: app).entry.content else {
        Issue.record("it was accepted")
        continue
      }
      #expect(refusal.source == .fetched)
    }
  }
}
