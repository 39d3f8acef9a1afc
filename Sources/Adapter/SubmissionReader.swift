import JSON
import Purchases
import Receipts
import Signing
import Time
import Wire

struct SubmissionReader {
  enum Origin {
    /// Apple's response to a request of Switchyard: it is of the requesting app.
    case fetched
    /// A submission by a back end, perhaps for a client: it is of the app that its signature names.
    case handedIn
    /// Inspection only: its envelope is trusted.
    case lookedAt
  }

  let verifier: SignedDataVerifier
  let message: Digest
  let app: String
  let origin: Origin
  /// The request's environment for payloads without one.
  let fallback: Environment?
  let now: Timestamp

  private var statements: StatementMapping { StatementMapping(message: message) }

  /// Returns the app of a transaction without one; `nil` if it may have been bought in another app.
  private func app(by envelope: String?) -> String? {
    switch origin {
    case .fetched: app
    case .handedIn: nil
    case .lookedAt: envelope ?? app
    }
  }

  /// A transaction, renewal or app transaction.
  func read(jws: [UInt8]) throws(MessageError) -> DecodedMessage {
    let payload: VerifiedPayload
    do throws(VerificationError) {
      payload = try verifier.verifyAny(jws, expecting: expectation(fallback), now: now)
    } catch { throw MessageError(error) }
    switch payload {
    case .transaction(let verified):
      let environment = try environment(verified)
      if let seed = seed(verified, in: environment) {
        return try reading(
          app, environment, verified.signedAt, "transaction without bundleId",
          TransactionPayload(verified.payload).survey()
        ) { $0.seeds = [seed] }
      }
      let statement = try statements.purchase(verified, of: app(by: nil), in: environment)
      return try reading(
        statement.key.app, environment, verified.signedAt, "transaction",
        TransactionPayload(verified.payload).survey()
      ) { $0.purchases = [statement] }
    case .renewal(let verified):
      let environment = try environment(verified)
      let statement = try statements.renewal(verified, app: app, in: environment)
      return try reading(
        app, environment, verified.signedAt, "renewal", RenewalPayload(verified.payload).survey()
      ) { $0.renewals = [statement] }
    case .appTransaction(let verified):
      let environment = try environment(verified)
      guard let statement = try statements.appTransaction(verified, in: environment) else {
        throw MessageError(.authentic, .missingIdentity, "an app transaction without appTransactionId", claimedApp: app)
      }
      return try reading(
        statement.key.app, environment, verified.signedAt, "appTransaction",
        AppTransactionPayload(verified.payload).survey()
      ) { $0.appTransactions = [statement] }
    case .notification:
      throw MessageError(.authentic, .notAMessage, "a bare notification; post {\"signedPayload\": \"…\"}")
    case .realtimeRequest:
      throw MessageError(.authentic, .notAMessage, "a Retention Messaging request is not evidence")
    }
  }

  func read(answer: JSONObject) throws(MessageError) -> DecodedMessage {
    if answer["data"]?.array != nil { return try statuses(StatusResponse(answer)) }
    let order = OrderLookupResponse(answer)
    if order.isInvalidOrder {
      throw MessageError(
        .authentic, .notAMessage, "a Look Up Order ID response: status 1, Apple knows no such order in the app")
    }
    if let signed = order.signedTransactions {
      let isOrder = answer["status"] != nil
      return try transactions(
        signed, envelope: answer, title: isOrder ? "order" : "history",
        survey: isOrder ? order.survey() : HistoryResponse(answer).survey())
    }
    if let jws = Self.payload(of: answer) { return try read(jws: Array(jws.utf8)) }
    throw MessageError(.unreadable, .notAMessage, "neither a signed payload nor an answer that holds some")
  }

  /// Reads the signed texts of a library's object.
  ///
  /// If one of them is rejected, only `member` is read, and the others are named.
  func read(_ member: SignedMember, in signed: [SignedMember]) throws(MessageError) -> DecodedMessage {
    guard signed.count > 1 else { return try read(jws: member.text) }
    let texts = signed.map { JSONValue.string(String(decoding: $0.text, as: UTF8.self)) }
    let list: JSONObject = ["signedTransactions": .array(texts)]
    do throws(MessageError) { return try read(answer: list) } catch {
      // One of them is of another app.
      if error.kind == .authentic, error.code == MessageError.Code.wrongBundle.rawValue { throw error }
      var reading = try read(jws: member.text)
      reading.survey.add(unknown: "furtherSignedPayloads")
      return reading
    }
  }

  /// Whether an object has members with signed payloads for `read`.
  static func holdsSigned(_ answer: JSONObject) -> Bool {
    answer["data"]?.array != nil || answer["signedTransactions"]?.array != nil || payload(of: answer) != nil
  }

  private static func payload(of answer: JSONObject) -> String? {
    answer["signedTransactionInfo"]?.string ?? answer["signedRenewalInfo"]?.string
      ?? answer["signedAppTransactionInfo"]?.string
  }

  /// Returns the ID of a transaction without an app, which Apple identifies in a lookup with the app's key.
  private func seed(_ verified: Verified<JSONObject>, in environment: Environment) -> TransactionReference? {
    let payload = TransactionPayload(verified.payload)
    guard origin == .handedIn, payload.bundleId == nil,
      let id = payload.originalTransactionId ?? payload.transactionId, id != "", id != "0"
    else { return nil }
    return TransactionReference(app: app, environment: environment, transactionID: id, isSigned: true)
  }

  private struct Rows {
    var purchases: [PurchaseStatement] = []
    var renewals: [Verified<JSONObject>] = []
    var seeds: [TransactionReference] = []
    var survey: UndocumentedContent
    var refusal: MessageError?

    /// Omits a row that Apple signed but that is of another kind; any other rejection applies to the whole response.
    mutating func leaveOut(_ path: String, because refusal: MessageError) throws(MessageError) {
      guard refusal.isOfOneRow else { throw refusal }
      self.refusal = self.refusal ?? refusal
      survey.add(unusable: path)
    }
  }

  private func statuses(_ answer: StatusResponse) throws(MessageError) -> DecodedMessage {
    let envelope = try ResponseEnvelope(answer.json, fallback: fallback)
    var rows = Rows(survey: answer.survey())
    for item in (answer.data ?? []).flatMap({ $0.lastTransactions ?? [] }) {
      if let jws = item.signedTransactionInfo {
        try take(jws, envelope, originalTransactionID: item.originalTransactionId, "signedTransactionInfo", &rows)
      }
      if let jws = item.signedRenewalInfo {
        do throws(MessageError) {
          let verified = try verify(jws, as: .renewal, envelope, originalTransactionID: item.originalTransactionId)
          rows.survey.add(RenewalPayload(verified.payload).survey())
          rows.renewals.append(verified)
        } catch { try rows.leaveOut("signedRenewalInfo", because: error) }
      }
    }
    return try answered(rows, envelope, "statuses")
  }

  private func transactions(
    _ signed: [String], envelope json: JSONObject, title: String, survey: UndocumentedContent
  ) throws(MessageError) -> DecodedMessage {
    let envelope = try ResponseEnvelope(json, fallback: fallback)
    var rows = Rows(survey: survey)
    for jws in signed { try take(jws, envelope, originalTransactionID: nil, "signedTransactions[]", &rows) }
    return try answered(rows, envelope, title)
  }

  private func take(
    _ jws: String, _ envelope: ResponseEnvelope, originalTransactionID: String?, _ path: String, _ rows: inout Rows
  ) throws(MessageError) {
    do throws(MessageError) {
      let verified = try verify(jws, as: .transaction, envelope, originalTransactionID: originalTransactionID)
      let environment = try environment(verified)
      if let seed = seed(verified, in: environment) {
        rows.seeds.append(seed)
      } else {
        rows.purchases.append(
          try statements.purchase(verified, of: app(by: envelope.bundleID), in: environment))
      }
      rows.survey.add(TransactionPayload(verified.payload).survey())
    } catch { try rows.leaveOut(path, because: error) }
  }

  /// Returns all statements of one response: one app, one environment, and one customer if Switchyard fetched it.
  private func answered(_ told: Rows, _ envelope: ResponseEnvelope, _ title: String) throws(MessageError)
    -> DecodedMessage
  {
    var rows = told
    let purchases = rows.purchases
    let bundleID = purchases.first?.key.app ?? envelope.bundleID ?? app
    var renewals: [RenewalStatement] = []
    for verified in rows.renewals {
      do throws(MessageError) {
        renewals.append(try statements.renewal(verified, app: bundleID, in: environment(verified)))
      } catch { try rows.leaveOut("signedRenewalInfo", because: error) }
    }
    let keys =
      purchases.map { ($0.key.app, $0.key.environment) } + renewals.map { ($0.key.app, $0.key.environment) }
      + rows.seeds.compactMap { seed in seed.environment.map { (seed.app, $0) } }
    guard let (app, environment) = keys.first else {
      throw rows.refusal
        ?? MessageError(.authentic, .notAMessage, "an answer with nothing signed in it", claimedApp: envelope.bundleID)
    }
    if let other = keys.first(where: { $0 != (app, environment) }) {
      throw MessageError(
        VerificationError(
          .contradictsEnvelope, "one answer speaks of \(app) in \(environment) and of \(other.0) in \(other.1)"
        ).proven())
    }
    let latest = (purchases.map(\.rank.asOf) + renewals.map(\.rank.asOf)).max()
    let count = purchases.count + renewals.count + rows.seeds.count
    return try reading(
      app, environment, latest, "\(title) of \(count)", rows.survey, appAppleID: envelope.appAppleID
    ) {
      $0.purchases = purchases
      $0.renewals = renewals
      $0.seeds = rows.seeds
    }
  }

  private func verify(
    _ jws: String, as kind: PayloadKind, _ envelope: ResponseEnvelope, originalTransactionID: String?
  ) throws(MessageError) -> Verified<JSONObject> {
    let expected = expectation(try unnamed(envelope))
    do throws(VerificationError) {
      let verified =
        kind == .transaction
        ? try verifier.verifyTransaction(Array(jws.utf8), expecting: expected, now: now)
        : try verifier.verifyRenewal(Array(jws.utf8), expecting: expected, now: now)
      do throws(VerificationError) {
        try envelope.check(verified.payload, originalTransactionID: originalTransactionID)
      } catch { throw error.proven() }
      return verified
    } catch { throw MessageError(error, claimedApp: envelope.bundleID) }
  }

  /// Returns the environment of payloads without one: the request's, otherwise the envelope's.
  ///
  /// An envelope is unsigned and may have passed through many hands. So only the request, which the app's own back end
  /// makes, can state that a payment was in Production.
  private func unnamed(_ envelope: ResponseEnvelope) throws(MessageError) -> Environment? {
    if let fallback, let told = envelope.environment, fallback != told {
      throw MessageError(
        VerificationError(
          .contradictsEnvelope, "the request says environment \(fallback.rawValue), the answer says \(told.rawValue)"),
        claimedApp: envelope.bundleID)
    }
    return fallback ?? (envelope.environment == .production ? nil : envelope.environment)
  }

  /// Permits any environment; `unnamed` is that of payloads without one.
  private func expectation(_ unnamed: Environment?) -> ExpectedClaims {
    ExpectedClaims(unnamedEnvironment: unnamed.map(AppStoreEnvironment.init))
  }

  private func environment(_ verified: Verified<JSONObject>) throws(MessageError) -> Environment {
    guard let environment = verified.environment else {
      throw MessageError(
        .authentic, .environmentUnknown,
        "nothing signed names an environment; add ?environment=Production or Sandbox if you know it from Apple",
        claimedApp: app)
    }
    let signed = Environment(environment)
    if let fallback, fallback != signed {
      throw MessageError(
        VerificationError(
          .contradictsEnvelope,
          "the request says environment \(fallback.rawValue), the payload is of \(signed.rawValue)"
        ).proven(),
        claimedApp: app)
    }
    return signed
  }

  private func reading(
    _ app: String, _ environment: Environment, _ signedAt: Timestamp?, _ title: String, _ survey: UndocumentedContent,
    appAppleID: Int64? = nil, _ fill: (inout Findings) -> Void
  ) throws(MessageError) -> DecodedMessage {
    var findings = Findings(app: app, environment: environment)
    fill(&findings)
    findings.links = findings.derivedLinks
    // Only its rows are signed: their combination is Apple's statement if Switchyard fetched it.
    if origin == .fetched { findings.linkCustomers() } else { findings.claimLinks() }
    try MessageError.checkLengths(findings)
    return DecodedMessage(
      app: app, appAppleID: appAppleID, environment: environment, signedAt: signedAt, title: title,
      findings: findings, survey: survey)
  }
}
