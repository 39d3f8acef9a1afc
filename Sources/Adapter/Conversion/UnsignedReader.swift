import JSON
import Mappings
import Purchases
import Signing
import Time
import Wire

/// Reads decoded payloads, or those of Xcode; the result is unverified.
struct UnsignedReader {
  let verifier: SignedDataVerifier
  let vocabulary: Vocabulary
  let message: Digest
  /// The caller's app and environment for payloads without them.
  let app: String?
  let environment: Environment?
  let now: Timestamp

  private var statements: StatementMapping {
    StatementMapping(message: message, takesTestIdentities: true)
  }

  func read(_ payload: JSONObject, _ kind: PayloadKind) throws(ConversionError) -> ConversionResult {
    do throws(MessageError) {
      switch kind {
      case .transaction, .renewal, .appTransaction:
        var converted = try empty(ClaimedPayload(payload), kind)
        try add(payload, kind, to: &converted)
        return converted
      case .notification: return try notification(payload)
      case .realtimeRequest:
        throw MessageError(.authentic, .notAMessage, "a request of Retention Messaging says nothing of a purchase")
      }
    } catch { throw ConversionError(error) }
  }

  private func notification(_ payload: JSONObject) throws(MessageError) -> ConversionResult {
    var converted = try empty(ClaimedPayload(payload), .notification)
    converted.survey.add(NotificationPayload(payload).survey())
    let inside: [(carrier: String, name: String, kind: PayloadKind)] = [
      ("data", "signedTransactionInfo", .transaction), ("data", "signedRenewalInfo", .renewal),
      ("appData", "signedAppTransactionInfo", .appTransaction),
    ]
    for (carrier, name, kind) in inside {
      guard let value = payload[carrier]?.object?[name], !value.isNull else { continue }
      guard let payload = try opened(value, kind) else {
        converted.survey.add(unusable: "\(carrier).\(name)")
        continue
      }
      try add(payload, kind, to: &converted)
    }
    let event = try EventMapping(vocabulary: vocabulary, message: message).event(
      UnsignedPayload(payload, as: .notification), app: converted.findings.app,
      purchase: converted.findings.purchases.first,
      renewed: converted.findings.renewals.first?.key.originalTransactionID, in: converted.findings.environment)
    if let event { converted.findings.events = [event] }
    try MessageError.checkLengths(converted.findings)
    return converted
  }

  /// Returns a nested payload: verified if it is a JWS, unchanged if it is already decoded; `nil` for a text that never
  /// was a JWS.
  private func opened(_ value: JSONValue, _ kind: PayloadKind) throws(MessageError) -> JSONObject? {
    if let decoded = value.object { return decoded }
    guard let jws = value.string.map({ Array($0.utf8) }), jws.count(where: { $0 == UInt8(ascii: ".") }) == 2 else {
      return nil
    }
    do throws(VerificationError) { return try verifier.payload(of: jws, kind, now: now) } catch {
      throw MessageError(error)
    }
  }

  private func empty(_ claims: ClaimedPayload, _ kind: PayloadKind) throws(MessageError) -> ConversionResult {
    guard let app = claims.app ?? app else {
      throw MessageError(.unproven, .unknownApp, "nothing in a \(kind.rawValue) names its app")
    }
    guard let environment = claims.environment.map({ Environment($0) }) ?? environment else {
      throw MessageError(.unproven, .environmentUnknown, "nothing in it names an environment", claimedApp: app)
    }
    let given = (claims.app == nil ? ["bundleId"] : []) + (claims.environment == nil ? ["environment"] : [])
    return ConversionResult(findings: Findings(app: app, environment: environment), trust: .none, given: given)
  }

  private func add(_ payload: JSONObject, _ kind: PayloadKind, to converted: inout ConversionResult)
    throws(MessageError)
  {
    let (app, environment) = (converted.findings.app, converted.findings.environment)
    let unsigned = UnsignedPayload(payload, as: kind)
    switch kind {
    case .transaction:
      converted.findings.purchases.append(try statements.purchase(unsigned, of: app, in: environment))
      converted.survey.add(TransactionPayload(payload).survey())
    case .renewal:
      converted.findings.renewals.append(try statements.renewal(unsigned, app: app, in: environment))
      converted.survey.add(RenewalPayload(payload).survey())
    case .appTransaction:
      if let statement = try statements.appTransaction(unsigned, in: environment) {
        converted.findings.appTransactions.append(statement)
      }
      converted.survey.add(AppTransactionPayload(payload).survey())
    case .notification, .realtimeRequest: break
    }
  }
}

extension SignedDataVerifier {
  /// Returns the payload of a JWS below the roots, or of unsigned test data of Xcode.
  fileprivate func payload(
    of jws: [UInt8], _ kind: PayloadKind, now: Timestamp
  ) throws(VerificationError) -> JSONObject {
    let isTestData = ClaimedPayload(jws: jws).environment.map { !$0.isSignedByApple } ?? false
    let expected = ExpectedClaims(environment: isTestData ? .unsignedTestData : .any)
    switch kind {
    case .transaction: return try verifyTransaction(jws, expecting: expected, now: now).payload
    case .renewal: return try verifyRenewal(jws, expecting: expected, now: now).payload
    case .appTransaction: return try verifyAppTransaction(jws, expecting: expected, now: now).payload
    case .notification: return try verifyNotification(jws, expecting: expected, now: now).notification.payload
    case .realtimeRequest: throw VerificationError(.unexpectedKind, "a request of Retention Messaging")
    }
  }
}
