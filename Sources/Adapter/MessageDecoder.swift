import JSON
public import Mappings
public import Purchases
public import Receipts
public import Signing
public import Time
import Wire

/// Verifies and decodes bytes of either generation, and maps them into the canonical model.
///
/// It uses no clock, network or database: the same bytes always give the same result.
public struct MessageDecoder: Sendable {
  private let verifier: SignedDataVerifier
  package let receipts: ReceiptReader
  private let vocabulary: Vocabulary

  /// - Parameter receipts: verifies the receipts inside V1 bodies and submitted ones.
  public init(
    verifier: SignedDataVerifier, receipts: ReceiptReader = ReceiptReader(), vocabulary: Vocabulary = .embedded
  ) {
    self.verifier = verifier
    self.receipts = receipts
    self.vocabulary = vocabulary
  }

  /// Decodes a body that was posted to a notification URL.
  ///
  /// `now` is the date of signed data without a date. `origin` is the result of checking the sender of a V1 body;
  /// without it the body is rejected, to be stored and read again.
  public func notification(
    _ body: [UInt8], message: Digest, origin: V1Context? = nil, now: Timestamp
  ) throws(MessageError) -> DecodedMessage {
    try notification(
      ReceivedBody(body), message: message, origin: origin, now: now)
  }

  package func notification(
    _ body: ReceivedBody, message: Digest, origin: V1Context? = nil, now: Timestamp
  ) throws(MessageError) -> DecodedMessage {
    switch try body.told.get() {
    case .notificationV2(let jws): return try notification(jws: jws, message: message, now: now)
    case .notificationV1(let body):
      guard let origin else {
        throw MessageError(
          .legacy, .notificationV1NotYet, "a V1 notification; kept until this app's V1 side is connected",
          claimedApp: body["bid"]?.looseText)
      }
      return try legacyNotification(body, message, origin)
    case .jws: throw MessageError(.unreadable, .notAMessage, "a bare JWS; a notification is {\"signedPayload\": \"…\"}")
    case .receipt: throw MessageError(.unreadable, .notAMessage, "a receipt; hand it in as evidence")
    case .object: throw MessageError(.unreadable, .notAMessage, "neither signedPayload nor notification_type is there")
    }
  }

  /// Decodes evidence of an app's back end.
  ///
  /// It is a signed transaction, renewal or app transaction, a notification of either generation, or an unchanged
  /// response of the App Store Server API or verifyReceipt. It can also be a receipt (bare, or as `{"receipt-data":
  /// "…"}`), or an ID (`{"originalTransactionId": "…"}` or `{"transactionId": "…"}`).
  ///
  /// `environment` applies if neither payload nor envelope names one; `app` is the submitter's app; `userID` is the
  /// app's own name of the account. A member `userId` of a JSON body applies if `userID` is nil: the body may be a
  /// client's, passed on.
  ///
  /// - Parameter userSince: since when the user is known; nil: since now.
  public func evidence(
    _ body: [UInt8], app: String, environment: Environment?, userID: String? = nil, userSince: Timestamp? = nil,
    message: Digest, now: Timestamp
  ) throws(MessageError) -> DecodedMessage {
    try evidence(
      MessageFormat(body, limits: Self.evidenceLimits), app: app, environment: environment, userID: userID,
      userSince: userSince, message: message, origin: .handedIn, now: now)
  }

  /// Decodes a classified input for inspection, never for storage.
  func evidence(
    _ told: MessageFormat, app: String, environment: Environment?, message: Digest, now: Timestamp
  ) throws(MessageError) -> DecodedMessage {
    try evidence(
      told, app: app, environment: environment, userID: nil, message: message, origin: .lookedAt, now: now)
  }

  private func evidence(
    _ told: MessageFormat, app: String, environment: Environment?, userID: String?, userSince: Timestamp? = nil,
    message: Digest, origin whence: SubmissionReader.Origin, now: Timestamp
  ) throws(MessageError) -> DecodedMessage {
    let evidence = SubmissionReader(
      verifier: verifier, message: message, app: app, origin: whence, fallback: environment, now: now)
    let origin = V1Context(app: app, environment: environment, trust: .none, receivedAt: now)
    var named: String?
    var reading: DecodedMessage
    switch told {
    case .notificationV2(let jws): reading = try notification(jws: jws, message: message, now: now)
    case .notificationV1(let body): reading = try legacyNotification(body, message, origin)
    case .jws(let jws): reading = try evidence.read(jws: jws)
    case .receipt(let text): reading = try receipt(text, message, origin)
    case .object(let object):
      named = object["userId"]?.looseText
      if VerifyReceiptResponseReader.isAnswer(object) {
        reading = try legacyAnswer(object, message, origin)
      } else if let text = object["receipt-data"]?.string, TransactionIDSubmission.value(of: object) == nil {
        reading = try receipt(Array(Array(text.utf8)[...].withoutDataURI), message, origin)
      } else {
        reading = try handed(object, evidence, message, origin)
      }
    }
    try Self.attribute(&reading, to: userID, named: named, app: app, message: message, since: userSince ?? now)
    return reading
  }

  /// Decodes Apple's response, a client library's purchase object, or an ID.
  ///
  /// Signed data precedes an ID next to it, which proves nothing. An unproven signature does not.
  private func handed(
    _ object: JSONObject, _ evidence: SubmissionReader, _ message: Digest, _ origin: V1Context
  ) throws(MessageError) -> DecodedMessage {
    if SubmissionReader.holdsSigned(object), TransactionIDSubmission.value(of: object) == nil {
      return try evidence.read(answer: object)
    }
    let all = SignedMember.all(in: object)
    let signed = all.prefix(Self.mostSigned)
    let transactions = Array(all.filter { $0.kind == .jws }.prefix(Self.mostTransactions))
    var (found, refusal): (DecodedMessage?, MessageError?)
    for member in signed {
      // The first transaction's read includes all of them.
      if member.kind == .jws, found != nil { break }
      do throws(MessageError) {
        let reading: DecodedMessage
        switch member.kind {
        case .receipt:
          let receipt = ReceiptSubmissionReader(
            reader: receipts, vocabulary: vocabulary, message: message, origin: origin, requiresProof: true)
          reading = try receipt.read(member.text)
        case .jws: reading = try evidence.read(member, in: transactions)
        }
        found = found?.joined(with: reading) ?? reading
      } catch {
        // Apple's signature names another app, regardless of the data next to it.
        let isOfAnother = error.kind == .authentic && error.code == MessageError.Code.wrongBundle.rawValue
        if isOfAnother { throw error }
        refusal = refusal ?? error
      }
    }
    if var found {
      let isCut = all.count { $0.kind == .receipt } > signed.count
      if isCut || refusal != nil { found.survey.add(unknown: DecodedMessage.further) }
      return Self.naming(idOf: object, in: found)
    }
    if let seed = try TransactionIDSubmission.seed(object, of: origin) {
      return try DecodedMessage(bare: seed, of: origin, survey: TransactionIDSubmission.survey(object))
    }
    if let receipt = signed.first(where: { $0.kind == .receipt }), let refusal, refusal.kind != .authentic {
      return try self.receipt(receipt.text, message, origin)
    }
    if let refusal { throw refusal }
    return try evidence.read(answer: object)
  }

  /// Names an ID next to signed data that lacks it; it proves nothing, so no lookup uses it.
  private static func naming(idOf object: JSONObject, in reading: DecodedMessage) -> DecodedMessage {
    guard let id = TransactionIDSubmission.value(of: object)?.looseText else { return reading }
    let findings = reading.findings
    let ids = findings.aliases.map(\.id) + findings.originalTransactionIDs + findings.seeds.map(\.transactionID)
    guard !ids.contains(id) else { return reading }
    var reading = reading
    reading.survey.add(unknown: object["originalTransactionId"] == nil ? "transactionId" : "originalTransactionId")
    return reading
  }

  private static let mostSigned = 4
  private static let mostTransactions = 100

  /// Decodes a receipt that was proven already, with the same result as `evidence` for its text.
  package func evidence(
    _ receipt: ReceiptReadResult, app: String, environment: Environment?, userID: String? = nil,
    userSince: Timestamp? = nil, message: Digest, now: Timestamp
  ) throws(MessageError) -> DecodedMessage {
    let origin = V1Context(app: app, environment: environment, trust: .none, receivedAt: now)
    var reading = try ReceiptSubmissionReader(
      reader: receipts, vocabulary: vocabulary, message: message, origin: origin
    )
    .read(receipt)
    try Self.attribute(&reading, to: userID, named: nil, app: app, message: message, since: userSince ?? now)
    return reading
  }

  private static func attribute(
    _ reading: inout DecodedMessage, to userID: String?, named: String?, app: String, message: Digest, since: Timestamp
  ) throws(MessageError) {
    guard reading.app == app else {
      throw MessageError(
        .authentic, .wrongBundle, "it is of \(reading.app), the token is for \(app)", claimedApp: reading.app)
    }
    let (told, inBody) = (Self.unlessBlank(userID), Self.unlessBlank(named))
    if let told, let inBody, !told.utf8.elementsEqual(inBody.utf8) {
      reading.objection = MessageError(
        .unreadable, .userIdContradicts,
        "userId in the body is not the userId of the request; send the body without it", claimedApp: app)
    }
    let user = told ?? inBody
    try MessageError.checkLength(ofUserID: user, app: app)
    reading.findings.noteSeeds(userID: user)
    if let user { reading.findings.attribute(toUser: user, asOf: since, message: message.bytes) }
  }

  /// A blank user ID names no account; different customers must not share it.
  private static func unlessBlank(_ userID: String?) -> String? {
    userID.flatMap { UserID.isNobody($0) ? nil : $0 }
  }

  /// Decodes a verifyReceipt response that Switchyard fetched from Apple.
  ///
  /// - Parameter app: whose receipt was sent; nil to believe the response.
  public func answer(
    _ body: [UInt8], app: String?, environment: Environment?, message: Digest, now: Timestamp
  ) throws(MessageError) -> DecodedMessage {
    guard case .object(let object) = try MessageFormat(body, limits: Self.evidenceLimits),
      VerifyReceiptResponseReader.isAnswer(object)
    else { throw MessageError(.unreadable, .notAMessage, "not a verifyReceipt response: it has no status") }
    return try legacyAnswer(
      object, message, V1Context(app: app, environment: environment, trust: .apple, receivedAt: now))
  }

  /// Decodes a receipt that was posted to verifyReceipt while Apple was not asked; throws unless its signature is
  /// verified.
  ///
  /// Decoded like evidence: lines of a receipt that signs its environment are of one customer, and its IDs are seeds.
  /// An iOS 6 receipt signs none, so Apple must still confirm the environment of its purchase.
  ///
  /// - Parameter environment: of the endpoint that it was posted to.
  public func postedReceipt(
    _ text: [UInt8], app: String, environment: Environment?, message: Digest, now: Timestamp
  ) throws(MessageError) -> DecodedMessage {
    let origin = V1Context(app: app, environment: environment, trust: .none, receivedAt: now)
    let evidence = ReceiptSubmissionReader(
      reader: receipts, vocabulary: vocabulary, message: message, origin: origin, requiresProof: true)
    return try evidence.read(text)
  }

  /// Decodes the App Store Server API's response to a request of Switchyard: a history, statuses, an order, a
  /// transaction.
  ///
  /// Decoded like evidence, but all of it is of one customer, and its IDs cause no further lookups. A member `orderId`,
  /// which Switchyard adds, names the requested order: it becomes an alias of the response's purchases.
  public func apiAnswer(
    _ body: [UInt8], app: String, environment: Environment?, message: Digest, now: Timestamp
  ) throws(MessageError) -> DecodedMessage {
    let told = try MessageFormat(body, limits: Self.evidenceLimits)
    var reading = try evidence(
      told, app: app, environment: environment, userID: nil, message: message, origin: .fetched, now: now)
    reading.findings.seeds = []
    // Switchyard adds it as the first member.
    if body.starts(with: Self.orderMember), case .object(let object) = told, let order = object["orderId"]?.string {
      reading.findings.furtherAliases += reading.findings.purchases.map { purchase in
        Alias(orderID: order, of: purchase.key, asOf: purchase.rank.asOf)
      }
      try MessageError.checkLengths(reading.findings)
    }
    return reading
  }

  private static let orderMember = Array("{\"orderId\":".utf8)

  /// A response has a row of 1 KB for every purchase ever made.
  private static let evidenceLimits = JSONLimits(bytes: 8 << 20, depth: JSONLimits.standard.depth)

  func legacyNotification(
    _ body: JSONObject, _ message: Digest, _ origin: V1Context
  ) throws(MessageError) -> DecodedMessage {
    try V1NotificationReader(
      body: V1NotificationBody(body), vocabulary: vocabulary, receipts: receipts, message: message, origin: origin
    ).reading()
  }

  private func legacyAnswer(
    _ answer: JSONObject, _ message: Digest, _ origin: V1Context
  ) throws(MessageError) -> DecodedMessage {
    try VerifyReceiptResponseReader(
      answer: VerifyReceiptResponse(answer), vocabulary: vocabulary, receipts: receipts, message: message,
      origin: origin
    ).reading()
  }

  private func receipt(_ text: [UInt8], _ message: Digest, _ origin: V1Context) throws(MessageError) -> DecodedMessage {
    try ReceiptSubmissionReader(reader: receipts, vocabulary: vocabulary, message: message, origin: origin).read(text)
  }

  func notification(jws: [UInt8], message: Digest, now: Timestamp) throws(MessageError) -> DecodedMessage {
    let verified: VerifiedNotification
    do throws(VerificationError) {
      verified = try verifier.verifyNotification(jws, expecting: ExpectedClaims(), now: now)
    } catch {
      throw MessageError(
        error, isMessage: jws.count { $0 == UInt8(ascii: ".") } == 2,
        // Apple's signature identifies the app, regardless of other errors.
        claimedApp: error.isProven ? UnverifiedSender(ofSignedPayload: jws)?.app : nil)
    }
    let environment = Environment(verified.environment)
    let statements = StatementMapping(message: message)
    var findings = Findings(app: verified.bundleID, environment: environment)
    var survey = NotificationPayload(verified.notification.payload).survey()
    if let transaction = verified.transaction {
      let type = NotificationPayload(verified.notification.payload).notificationType
      findings.purchases.append(
        try statements.purchase(
          transaction, of: verified.bundleID, in: environment, isReversal: type == "REFUND_REVERSED"))
      survey.add(TransactionPayload(transaction.payload).survey())
    }
    if let renewal = verified.renewal {
      findings.renewals.append(try statements.renewal(renewal, app: verified.bundleID, in: environment))
      survey.add(RenewalPayload(renewal.payload).survey())
    }
    if let appTransaction = verified.appTransaction {
      if let statement = try statements.appTransaction(appTransaction, in: environment) {
        findings.appTransactions.append(statement)
      }
      survey.add(AppTransactionPayload(appTransaction.payload).survey())
    }
    let events = EventMapping(vocabulary: vocabulary, message: message)
    if let event = try events.event(verified, purchase: findings.purchases.first, in: environment) {
      findings.events.append(event)
    }
    findings.links = findings.derivedLinks
    try MessageError.checkLengths(findings)
    return DecodedMessage(
      app: verified.bundleID, appAppleID: verified.appAppleID, environment: environment,
      signedAt: verified.notification.signedAt,
      title: findings.events.first?.title ?? "notification without type", findings: findings, survey: survey)
  }
}

extension Environment {
  init(_ environment: AppStoreEnvironment) {
    self =
      switch environment {
      case .production: .production
      case .sandbox: .sandbox
      case .xcode: .xcode
      case .localTesting: .localTesting
      }
  }
}

extension AppStoreEnvironment {
  init(_ environment: Environment) {
    self =
      switch environment {
      case .production: .production
      case .sandbox: .sandbox
      case .xcode: .xcode
      case .localTesting: .localTesting
      }
  }
}

extension Event {
  var title: String { subtype.map { "\(notificationType)/\($0)" } ?? notificationType }
}
