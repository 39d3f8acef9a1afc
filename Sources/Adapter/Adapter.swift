import JSON
package import Mappings
package import Purchases
package import Receipts
package import Signing
package import Time
import Wire

/// The way in: bytes of either generation are told apart, verified, decoded and mapped into the canonical model.
///
/// It asks no clock, no network and no database: the same bytes give the same reading for ever.
package struct Adapter: Sendable {
  private let verifier: SignedDataVerifier
  private let receipts: ReceiptReader
  private let vocabulary: Vocabulary

  /// - Parameter receipts: proves the receipts inside V1 bodies and those that are handed in.
  package init(
    verifier: SignedDataVerifier, receipts: ReceiptReader = ReceiptReader(), vocabulary: Vocabulary = .embedded
  ) {
    self.verifier = verifier
    self.receipts = receipts
    self.vocabulary = vocabulary
  }

  /// What makes two notification bodies one: the JWS alone, so that nobody can make many messages of one by wrapping it
  /// differently; of a V1 body all but the shared secret, which may change while Apple tries again; else the body.
  package static func identity(ofNotification body: [UInt8]) -> [UInt8] {
    guard var object = try? JSONReader.read(body).object else { return body }
    if let jws = object["signedPayload"]?.string { return Array(jws.utf8) }
    guard object["notification_type"] != nil else { return body }
    object["password"] = nil
    return object.encoded()
  }

  /// The body of a notification as it is kept: a signed payload alone, without what anybody can wrap around it.
  ///
  /// Apple sends nothing around it but the object that names it; a body of that size is kept as it came. A V1 body is
  /// forwarded byte for byte, and is kept so.
  package static func kept(ofNotification body: [UInt8]) -> [UInt8] {
    // As nearly every body is: no need to read it once more.
    if isPlain(body) { return body }
    guard let jws = (try? JSONReader.read(body).object)?["signedPayload"]?.string else { return body }
    let plain = JSONObject([("signedPayload", .string(jws))]).encoded()
    return body.count <= plain.count + wrapping ? body : plain
  }

  /// Whether a body is `{"signedPayload":"…"}` and nothing else, with no escape in it.
  private static func isPlain(_ body: [UInt8]) -> Bool {
    guard body.starts(with: plainHead), body.count > plainHead.count + 2,
      body.suffix(2).elementsEqual(Array("\"}".utf8))
    else { return false }
    return !body[plainHead.count..<(body.count - 2)].contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
  }

  private static let plainHead = Array("{\"signedPayload\":\"".utf8)

  /// Bytes around a signed payload that may be white space of Apple's.
  private static let wrapping = 64

  /// What makes two pieces of evidence one: the body, and what the caller says of it where it does not say so itself.
  package static func identity(
    ofEvidence body: [UInt8], app: String, environment: Environment?, userID: String? = nil
  ) -> [UInt8] {
    // A page of a history has 80 KB: copied once.
    let claim = "\n\(app)\n\(environment?.rawValue ?? "")" + (userID.map { "\n\($0)" } ?? "")
    var identity: [UInt8] = []
    identity.reserveCapacity(body.count + claim.utf8.count)
    identity += body
    identity += claim.utf8
    return identity
  }

  /// What Apple posts to a notification URL.
  ///
  /// `now` counts only for what is signed without a date. `origin` is what was found out about the sender of a V1 body;
  /// without it such a body is refused, to be kept and read again.
  package func notification(
    _ body: [UInt8], message: Digest, origin: LegacyOrigin? = nil, now: Milliseconds
  ) throws(Refusal) -> Reading {
    switch try Detection(body) {
    case .notificationV2(let jws): return try notification(jws: jws, message: message, now: now)
    case .notificationV1(let body):
      guard let origin else {
        throw Refusal(
          .legacy, .notificationV1NotYet, "a V1 notification; kept until this app's V1 side is connected",
          claimedApp: body["bid"]?.looseText)
      }
      return try legacyNotification(body, message, origin)
    case .jws: throw Refusal(.unreadable, .notAMessage, "a bare JWS; a notification is {\"signedPayload\": \"…\"}")
    case .receipt: throw Refusal(.unreadable, .notAMessage, "a receipt; hand it in as evidence")
    case .object: throw Refusal(.unreadable, .notAMessage, "neither signedPayload nor notification_type is there")
    }
  }

  /// What an app's back end has in hand: a signed transaction, renewal or app transaction, a notification of either
  /// generation, an answer of the App Store Server API or of verifyReceipt as Apple gave it, a receipt (bare, or as
  /// `{"receipt-data": "…"}`), or an id (`{"originalTransactionId": "…"}` or `{"transactionId": "…"}`).
  ///
  /// `environment` stands in where neither payload nor envelope names one; `app` is whose evidence it is; `userID` is
  /// the app's own name for the account, which a member `userId` of a JSON body tells as well.
  package func evidence(
    _ body: [UInt8], app: String, environment: Environment?, userID: String? = nil, message: Digest, now: Milliseconds
  ) throws(Refusal) -> Reading {
    try evidence(
      body, app: app, environment: environment, userID: userID, message: message, isFetched: false, now: now)
  }

  private func evidence(
    _ body: [UInt8], app: String, environment: Environment?, userID: String?, message: Digest, isFetched: Bool,
    now: Milliseconds
  ) throws(Refusal) -> Reading {
    let evidence = Evidence(
      verifier: verifier, message: message, app: app, isFetched: isFetched, fallback: environment, now: now)
    let origin = LegacyOrigin(app: app, environment: environment, trust: .none, receivedAt: now)
    var userID = userID
    var reading: Reading
    switch try Detection(body, limits: Self.evidenceLimits) {
    case .notificationV2(let jws): reading = try notification(jws: jws, message: message, now: now)
    case .notificationV1(let body): reading = try legacyNotification(body, message, origin)
    case .jws(let jws): reading = try evidence.read(jws: jws)
    case .receipt(let text): reading = try receipt(text, message, origin)
    case .object(let object):
      userID = object["userId"]?.looseText.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 } ?? userID
      if LegacyAnswer.isAnswer(object) {
        reading = try legacyAnswer(object, message, origin)
      } else if let text = object["receipt-data"]?.string {
        reading = try receipt(Array(text.utf8), message, origin)
      } else if let seed = try BareID.seed(object, of: origin) {
        reading = try Reading(bare: seed, of: origin)
      } else {
        reading = try evidence.read(answer: object)
      }
    }
    guard reading.app == app else {
      throw Refusal(
        .authentic, .wrongBundle, "it is of \(reading.app), the token is for \(app)", claimedApp: reading.app)
    }
    // A blank one names nobody; strangers must not share it.
    if userID?.allSatisfy(\.isWhitespace) == true { userID = nil }
    try Refusal.checkLength(ofUserID: userID, app: app)
    reading.findings.noteSeeds(userID: userID)
    if let userID { reading.findings.attribute(toUser: userID, asOf: now, message: message.bytes) }
    return reading
  }

  /// An answer of verifyReceipt that we fetched from Apple ourselves.
  ///
  /// - Parameter app: whose receipt was sent; nil to believe the answer.
  package func answer(
    _ body: [UInt8], app: String?, environment: Environment?, message: Digest, now: Milliseconds
  ) throws(Refusal) -> Reading {
    guard case .object(let object) = try Detection(body, limits: Self.evidenceLimits), LegacyAnswer.isAnswer(object)
    else { throw Refusal(.unreadable, .notAMessage, "no answer of verifyReceipt: it has no status") }
    return try legacyAnswer(
      object, message, LegacyOrigin(app: app, environment: environment, trust: .apple, receivedAt: now))
  }

  /// An answer of the App Store Server API to a question of ours: a history, statuses, an order, a transaction.
  ///
  /// Read as evidence, but everything in it is of one customer, and its ids are no news by which to ask again.
  ///
  /// A member `orderId`, which is not Apple's but ours, says which order was asked about: it becomes an alias of what the
  /// answer holds.
  package func apiAnswer(
    _ body: [UInt8], app: String, environment: Environment?, message: Digest, now: Milliseconds
  ) throws(Refusal) -> Reading {
    var reading = try evidence(
      body, app: app, environment: environment, userID: nil, message: message, isFetched: true, now: now)
    reading.findings.seeds = []
    // Ours, and therefore the first: an answer of 200 KB need not be read again to find that there is none.
    if body.starts(with: Self.orderMember),
      let order = try? JSONReader.read(body, limits: Self.evidenceLimits).object?["orderId"]?.string
    {
      reading.findings.furtherAliases += reading.findings.purchases.map { purchase in
        Alias(orderID: order, of: purchase.key, asOf: purchase.rank.asOf)
      }
      try Refusal.checkLengths(reading.findings)
    }
    return reading
  }

  private static let orderMember = Array("{\"orderId\":".utf8)

  /// An answer has a row of 1 KB for every purchase there ever was.
  private static let evidenceLimits = JSONLimits(bytes: 8 << 20, depth: JSONLimits.standard.depth)

  private func legacyNotification(
    _ body: JSONObject, _ message: Digest, _ origin: LegacyOrigin
  ) throws(Refusal) -> Reading {
    try LegacyNotification(
      body: NotificationBody(body), vocabulary: vocabulary, receipts: receipts, message: message, origin: origin
    ).reading()
  }

  private func legacyAnswer(
    _ answer: JSONObject, _ message: Digest, _ origin: LegacyOrigin
  ) throws(Refusal) -> Reading {
    try LegacyAnswer(
      answer: VerifyReceiptAnswer(answer), vocabulary: vocabulary, receipts: receipts, message: message,
      origin: origin
    ).reading()
  }

  private func receipt(_ text: [UInt8], _ message: Digest, _ origin: LegacyOrigin) throws(Refusal) -> Reading {
    try ReceiptEvidence(reader: receipts, vocabulary: vocabulary, message: message, origin: origin).read(text)
  }

  private func notification(jws: [UInt8], message: Digest, now: Milliseconds) throws(Refusal) -> Reading {
    let verified: VerifiedNotification
    do throws(VerificationError) {
      verified = try verifier.verifyNotification(jws, expecting: ExpectedClaims(), now: now)
    } catch {
      throw Refusal(error, isMessage: jws.count { $0 == UInt8(ascii: ".") } == 2)
    }
    let environment = Environment(verified.environment)
    let statements = StatementMapping(message: message)
    var findings = Findings(app: verified.bundleID, environment: environment)
    var survey = NotificationPayload(verified.notification.payload).survey()
    if let transaction = verified.transaction {
      findings.purchases.append(try statements.purchase(transaction, in: environment))
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
    try Refusal.checkLengths(findings)
    return Reading(
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
