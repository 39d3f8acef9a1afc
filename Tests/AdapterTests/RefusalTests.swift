/// A message that is refused, and how.
struct Refused: CustomTestStringConvertible, Sendable {
  let name: String
  let code: String
  let kind: MessageError.Class
  let read: @Sendable () throws -> DecodedMessage

  init(
    _ name: String, _ code: MessageError.Code, _ kind: MessageError.Class,
    _ read: @escaping @Sendable () throws -> DecodedMessage
  ) {
    (self.name, self.code, self.kind, self.read) = (name, code.rawValue, kind, read)
  }

  init(
    _ name: String, verifying code: VerificationError.Code, _ kind: MessageError.Class,
    _ read: @escaping @Sendable () throws -> DecodedMessage
  ) {
    (self.name, self.code, self.kind, self.read) = (name, code.rawValue, kind, read)
  }

  var testDescription: String { name }
}

@Suite struct `A refusal` {
  static let notifications: [Refused] = [
    Refused("nothing", .notJSON, .unreadable) { try Bench.read([]) },
    Refused("words", .notJSON, .unreadable) { try Bench.read(Array("hello".utf8)) },
    Refused("a key twice", .notJSON, .unreadable) { try Bench.read(Array(#"{"a":1,"a":2}"#.utf8)) },
    Refused("an array", .notAMessage, .unreadable) { try Bench.read(Array("[]".utf8)) },
    Refused("an empty object", .notAMessage, .unreadable) { try Bench.read(Array("{}".utf8)) },
    Refused("a payload that is no text", .notAMessage, .unreadable) {
      try Bench.read(Array(#"{"signedPayload":1}"#.utf8))
    },
    Refused("a bare JWS", .notAMessage, .unreadable) { try Bench.read(Array(Bench.sign(Bench.transaction).utf8)) },
    Refused("V1", .notificationV1NotYet, .legacy) {
      try Bench.read(Array(#"{"notification_type":"CANCEL","bid":"com.example.adapter"}"#.utf8))
    },
    Refused("one segment", verifying: .notAJWS, .unreadable) {
      try Bench.read(Array(#"{"signedPayload":"abc"}"#.utf8))
    },
    Refused("signed by a stranger", verifying: .unknownRoot, .unproven) {
      try Bench.read(Bench.body(Bench.payload(Bench.data()), by: Bench.stranger))
    },
    Refused("another kind of payload", verifying: .unexpectedKind, .unproven) {
      try Bench.read(Bench.body(Bench.transaction))
    },
    Refused("an environment of its own", verifying: .wrongEnvironment, .authentic) {
      try Bench.read(Bench.payload(Bench.with(Bench.data(), "environment", "Mars")))
    },
    Refused("an environment of its own, by a stranger", verifying: .wrongEnvironment, .unproven) {
      try Bench.read(
        Bench.body(Bench.payload(Bench.with(Bench.data(), "environment", "Mars")), by: Bench.stranger))
    },
    Refused("an environment of its own, by nobody", verifying: .wrongEnvironment, .unproven) {
      try Bench.read(Bench.unsigned(Bench.payload(Bench.with(Bench.data(), "environment", "Moon"))))
    },
    Refused("no bundle id", verifying: .missingClaim, .authentic) {
      try Bench.read(Bench.payload(Bench.with(Bench.data(), "bundleId", nil)))
    },
    Refused("a transaction of another app", verifying: .contradictsEnvelope, .authentic) {
      try Bench.read(Bench.payload(Bench.data(Bench.with(Bench.transaction, "bundleId", "com.example.other"))))
    },
    Refused("a transaction of another environment", verifying: .contradictsEnvelope, .authentic) {
      try Bench.read(Bench.payload(Bench.data(Bench.with(Bench.transaction, "environment", "Production"))))
    },
    Refused("a renewal of another subscription", verifying: .contradictsEnvelope, .authentic) {
      try Bench.read(
        Bench.payload(Bench.data(Bench.transaction, Bench.with(Bench.renewal, "originalTransactionId", "9"))))
    },
    Refused("no date of its own", .missingSignedDate, .authentic) {
      try Bench.read(Bench.with(Bench.payload(Bench.data()), "signedDate", nil))
    },
    Refused("a transaction without date", .missingSignedDate, .authentic) {
      try Bench.read(Bench.payload(Bench.data(Bench.with(Bench.transaction, "signedDate", nil))))
    },
    Refused("a renewal without date", .missingSignedDate, .authentic) {
      try Bench.read(Bench.payload(Bench.data(nil, Bench.with(Bench.renewal, "signedDate", nil))))
    },
    Refused("a transaction without id", .missingIdentity, .authentic) {
      try Bench.read(Bench.payload(Bench.data(Bench.with(Bench.transaction, "originalTransactionId", nil))))
    },
    Refused("Xcode's id of a transaction", .missingIdentity, .authentic) {
      try Bench.read(Bench.payload(Bench.data(Bench.with(Bench.transaction, "originalTransactionId", "0"))))
    },
    Refused("an empty id", .missingIdentity, .authentic) {
      try Bench.read(Bench.payload(Bench.data(Bench.with(Bench.transaction, "originalTransactionId", ""))))
    },
    Refused("Xcode's id of a renewal", .missingIdentity, .authentic) {
      try Bench.read(Bench.payload(Bench.data(nil, Bench.with(Bench.renewal, "originalTransactionId", "0"))))
    },
  ]

  static let evidence: [Refused] = [
    Refused("an id longer than any", .valueTooLong, .authentic) {
      let long = JSONValue.string(String(repeating: "1", count: 65))
      return try Bench.evidence(signing: Bench.with(Bench.transaction, "transactionId", long))
    },
    Refused("a request of another environment than the payload", verifying: .contradictsEnvelope, .authentic) {
      try Bench.evidence(signing: Bench.transaction, in: .production)
    },
    Refused("a request of another environment than the answer", verifying: .contradictsEnvelope, .unproven) {
      let unnamed = Bench.with(Bench.transaction, "environment", nil)
      return try Bench.evidence(
        ["environment": "Sandbox", "signedTransactions": [Bench.signedValue(unnamed)]], in: .production)
    },
    Refused("Production on an envelope's word alone", .environmentUnknown, .authentic) {
      let unnamed = Bench.with(Bench.transaction, "environment", nil)
      return try Bench.evidence(["environment": "Production", "signedTransactions": [Bench.signedValue(unnamed)]])
    },
    Refused("V1 of no environment as evidence", .environmentUnknown, .legacy) {
      try Bench.evidence(["notification_type": "CANCEL"])
    },
    Refused("V1 of two environments", .environmentUnknown, .legacy) {
      try Bench.evidence([
        "notification_type": "CANCEL", "environment": "PROD", "unified_receipt": ["environment": "Sandbox"],
      ])
    },
    Refused("V1 of an unheard-of environment", .environmentUnknown, .legacy) {
      try Bench.evidence(["notification_type": "CANCEL", "environment": "Mars"])
    },
    Refused("V1 of another environment than the request", .environmentUnknown, .legacy) {
      try Bench.evidence(["notification_type": "CANCEL", "environment": "PROD"], in: .sandbox)
    },
    Refused("V1 of another app", .wrongBundle, .authentic) {
      try Bench.evidence(["notification_type": "CANCEL", "environment": "PROD", "bid": "com.example.other"])
    },
    Refused("V1 of no app", .unknownApp, .legacy) {
      try Bench.legacy(["notification_type": "CANCEL", "environment": "PROD"], app: nil)
    },
    Refused("more rows than anybody has", .tooManyRows, .legacy) {
      let rows = Array(repeating: JSONValue.object([:]), count: 20_001)
      return try Bench.evidence([
        "notification_type": "CANCEL", "environment": "PROD", "unified_receipt": ["latest_receipt_info": .array(rows)],
      ])
    },
    Refused("a V1 id longer than any", .valueTooLong, .authentic) {
      try Bench.evidence([
        "notification_type": "CANCEL", "environment": "PROD",
        "unified_receipt": [
          "latest_receipt_info": [["transaction_id": .string(String(repeating: "1", count: 65))]]
        ],
      ])
    },
    Refused("a status without a receipt", .verifyReceiptStatus, .legacy) { try Bench.evidence(["status": 0]) },
    Refused("an undocumented status", .verifyReceiptStatus, .legacy) { try Bench.evidence(["status": 22000]) },
    Refused("an answer of another app", .wrongBundle, .authentic) {
      try Bench.evidence(["status": 0, "environment": "Sandbox", "receipt": ["bundle_id": "com.example.other"]])
    },
    Refused("an id that is none", .missingIdentity, .authentic) { try Bench.evidence(["transactionId": "0"]) },
    Refused("an id of other letters", .missingIdentity, .authentic) {
      try Bench.evidence(["originalTransactionId": "1' OR"])
    },
    Refused("an id longer than any of Apple's", .valueTooLong, .authentic) {
      try Bench.evidence(["originalTransactionId": .string(String(repeating: "1", count: 65))])
    },
    Refused("an account's name of a kilobyte", .valueTooLong, .authentic) {
      try Bench.evidence(["transactionId": "1", "userId": .string(String(repeating: "u", count: 1_000))])
    },
    Refused("an empty answer", .notAMessage, .authentic) { try Bench.evidence(["signedTransactions": []]) },
    Refused("statuses of nothing", .notAMessage, .authentic) {
      try Bench.evidence(["data": [["lastTransactions": []]], "bundleId": .string(Bench.app)])
    },
    Refused("a bare notification", .notAMessage, .authentic) {
      try Bench.evidence(signing: Bench.payload(Bench.data()))
    },
    Refused("a request of Retention Messaging", .notAMessage, .authentic) {
      try Bench.evidence(
        signing: [
          "requestIdentifier": "r", "userLocale": "en", "environment": "Sandbox",
          "signedDate": .integer(Bench.signed.sinceEpoch),
        ])
    },
    Refused("an app transaction without id", .missingIdentity, .authentic) {
      try Bench.evidence(signing: Bench.with(Bench.download, "appTransactionId", nil))
    },
    Refused("an app transaction of Xcode", .missingIdentity, .authentic) {
      try Bench.evidence(signing: Bench.with(Bench.download, "appTransactionId", "0"))
    },
    Refused("an answer of an unknown environment", .environmentUnknown, .authentic) {
      try Bench.evidence(["environment": "Mars", "signedTransactions": [Bench.signedValue(Bench.transaction)]])
    },
    Refused("a transaction of another app", .wrongBundle, .authentic) {
      try Bench.evidence(signing: Bench.with(Bench.transaction, "bundleId", "com.example.other"))
    },
    Refused("a notification of another app", .wrongBundle, .authentic) {
      let body = try Bench.body(Bench.payload(Bench.data()))
      return try Bench.evidence(body, of: "com.example.other")
    },
    Refused("a stranger's transaction", verifying: .unknownRoot, .unproven) {
      try Bench.evidence(Array(Bench.sign(Bench.transaction, by: Bench.stranger).utf8))
    },
    Refused("an answer that says another app", verifying: .contradictsEnvelope, .authentic) {
      try Bench.evidence([
        "bundleId": "com.example.other", "signedTransactions": [Bench.signedValue(Bench.transaction)],
      ])
    },
    Refused("an answer that says another environment", verifying: .contradictsEnvelope, .authentic) {
      try Bench.evidence([
        "environment": "Production", "signedTransactions": [Bench.signedValue(Bench.transaction)],
      ])
    },
    Refused("an item that says another subscription", verifying: .contradictsEnvelope, .authentic) {
      try Bench.evidence([
        "data": [
          [
            "lastTransactions": [
              ["originalTransactionId": "9", "signedRenewalInfo": Bench.signedValue(Bench.renewal)]
            ]
          ]
        ]
      ])
    },
    Refused("one answer about two apps", verifying: .contradictsEnvelope, .authentic) {
      try Bench.evidence([
        "signedTransactions": [
          Bench.signedValue(Bench.transaction),
          Bench.signedValue(Bench.with(Bench.transaction, "bundleId", "com.example.other")),
        ]
      ])
    },
    Refused("one answer about two environments", verifying: .contradictsEnvelope, .authentic) {
      try Bench.evidence([
        "signedTransactions": [
          Bench.signedValue(Bench.transaction),
          Bench.signedValue(Bench.with(Bench.transaction, "environment", "Production")),
        ]
      ])
    },
  ]

  /// A payload that names no environment is looked at below the roots of none: only where every other way in is shut.
  @Test func `wants an environment where neither payload nor envelope nor request names one`() throws {
    let unnamed = Bench.with(Bench.transaction, "environment", nil)
    #expect(throws: MessageError.self) { try Bench.evidence(signing: Bench.with(unnamed, "bundleId", nil)) }
    do {
      _ = try Bench.evidence(signing: unnamed)
      Issue.record("taken")
    } catch let error as MessageError {
      #expect(error.code == MessageError.Code.environmentUnknown.rawValue)
      #expect(error.claimedApp == Bench.app)
    }
  }

  @Test func `of what had the form of a message is no longer unreadable`() throws {
    #expect(MessageError(VerificationError(.invalidBase64, ""), isMessage: true).kind == .unproven)
    #expect(MessageError(VerificationError(.wrongBundle, ""), isMessage: true).kind == .unproven)
  }

  @Test(arguments: notifications + evidence)
  func `tells its code and class`(row: Refused) throws {
    do {
      _ = try row.read()
      Issue.record("taken")
    } catch let error as MessageError {
      #expect(error.code == row.code, "\(error)")
      #expect(error.kind == row.kind)
      #expect(!error.detail.isEmpty && error.description == "\(error.code): \(error.detail)")
    }
  }

  /// The others are the service's, which knows the registered apps.
  @Test func `has been provoked for each code of the adapter`() {
    let provoked = Set(
      (Self.notifications + Self.evidence).map(\.code) + [MessageError.Code.environmentUnknown.rawValue])
    let elsewhere: [MessageError.Code] = [
      .appAppleIdNotRegistered, .wrongAppAppleId, .unknownSubscription, .userIdContradicts,
      .appNotNamed, .noSharedSecret, .missingSharedSecret, .wrongSharedSecret, .secretRepeated,
    ]
    #expect(Set(MessageError.Code.allCases.map(\.rawValue)).subtracting(provoked) == Set(elsewhere.map(\.rawValue)))
  }

  @Test(arguments: VerificationError.Code.allCases)
  func `keeps the code of verification, and knows how far the message got`(code: VerificationError.Code) {
    let refusal = MessageError(VerificationError(code, "why"), claimedApp: "a")
    #expect(refusal.code == code.rawValue && refusal.detail == "why" && refusal.claimedApp == "a")
    let unreadable: [VerificationError.Code] = [.notAJWS, .invalidBase64]
    #expect(refusal.kind == (unreadable.contains(code) ? .unreadable : .unproven))
    // No code proves anything. The verified signature does, whatever is found wrong after it.
    let signed = MessageError(VerificationError(code, "why").proven(), isMessage: true, claimedApp: "a")
    #expect(signed.kind == .authentic && signed.code == code.rawValue)
  }

  @Test func `of a V1 notification tells which app it claims`() throws {
    let body: JSONObject = ["notification_type": "CANCEL", "bid": "com.example.old"]
    do {
      _ = try Bench.read(body.encoded())
      Issue.record("taken")
    } catch { #expect(error.claimedApp == "com.example.old") }
  }
}

extension Bench {
  static func payload(_ content: JSONObject) -> JSONObject { payload("DID_RENEW", nil, "data", content) }
}
