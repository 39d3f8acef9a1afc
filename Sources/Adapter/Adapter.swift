import JSON
package import Mappings
package import Purchases
package import Signing
package import Time
import Wire

/// The way in: bytes of either generation are told apart, verified, decoded and mapped into the canonical model.
///
/// It asks no clock, no network and no database: the same bytes give the same reading for ever.
package struct Adapter: Sendable {
  private let verifier: SignedDataVerifier
  private let vocabulary: Vocabulary

  package init(verifier: SignedDataVerifier, vocabulary: Vocabulary = .embedded) {
    self.verifier = verifier
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

  /// What makes two pieces of evidence one: the body, and what the caller says of it where it does not say so itself.
  package static func identity(ofEvidence body: [UInt8], app: String, environment: Environment?) -> [UInt8] {
    body + Array("\n\(app)\n\(environment?.rawValue ?? "")".utf8)
  }

  /// What Apple posts to a notification URL.
  ///
  /// `now` counts only for what is signed without a date.
  package func notification(_ body: [UInt8], message: Digest, now: Milliseconds) throws(Refusal) -> Reading {
    switch try Detection(body) {
    case .notificationV2(let jws): return try notification(jws: jws, message: message, now: now)
    case .notificationV1(let body):
      throw Refusal(
        .legacy, .notificationV1NotYet, "a V1 notification; kept until this app's V1 side is connected",
        claimedApp: body["bid"]?.string)
    case .jws: throw Refusal(.unreadable, .notAMessage, "a bare JWS; a notification is {\"signedPayload\": \"…\"}")
    case .answer: throw Refusal(.unreadable, .notAMessage, "neither signedPayload nor notification_type is there")
    }
  }

  /// What an app's back end has in hand: a signed transaction, renewal or app transaction, a notification, or an answer
  /// of the App Store Server API as Apple gave it.
  ///
  /// `environment` stands in where neither payload nor envelope names one; `app` is whose evidence it is.
  package func evidence(
    _ body: [UInt8], app: String, environment: Environment?, message: Digest, now: Milliseconds
  ) throws(Refusal) -> Reading {
    let evidence = Evidence(
      verifier: verifier, vocabulary: vocabulary, message: message, app: app, fallback: environment, now: now)
    let reading =
      switch try Detection(body) {
      case .notificationV2(let jws): try notification(jws: jws, message: message, now: now)
      case .notificationV1:
        throw Refusal(.legacy, .notificationV1NotYet, "a V1 notification cannot be evidence yet", claimedApp: app)
      case .jws(let jws): try evidence.read(jws: jws)
      case .answer(let object): try evidence.read(answer: object)
      }
    guard reading.app == app else {
      throw Refusal(
        .authentic, .wrongBundle, "it is of \(reading.app), the token is for \(app)", claimedApp: reading.app)
    }
    return reading
  }

  private func notification(jws: [UInt8], message: Digest, now: Milliseconds) throws(Refusal) -> Reading {
    let verified: VerifiedNotification
    do throws(VerificationError) {
      verified = try verifier.verifyNotification(jws, expecting: ExpectedClaims(), now: now)
    } catch {
      throw Refusal(error, isMessage: jws.count { $0 == UInt8(ascii: ".") } == 2)
    }
    let environment = Environment(verified.environment)
    let statements = StatementMapping(vocabulary: vocabulary, message: message)
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
