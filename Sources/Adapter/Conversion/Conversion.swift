import JSON
public import Mappings
public import Purchases
public import Receipts
public import Signing
public import Time
import Wire

/// Converts one input of any kind into the canonical model without a ledger, for inspection and comparison.
///
/// It trusts the same inputs as the service, and unverified ones only on request; their proof is `none`.
public struct Conversion: Sendable {
  private let verifier: SignedDataVerifier
  private let adapter: MessageDecoder
  private let receipts: ReceiptReader
  private let vocabulary: Vocabulary
  /// The values that the input lacks; they must agree with those that it has.
  private var app: String?
  private var environment: Environment?
  private let allowsUnsigned: Bool

  public init(
    verifier: SignedDataVerifier, receipts: ReceiptReader, vocabulary: Vocabulary = .embedded, app: String? = nil,
    environment: Environment? = nil, allowsUnsigned: Bool = false
  ) {
    self.verifier = verifier
    adapter = MessageDecoder(verifier: verifier, receipts: receipts, vocabulary: vocabulary)
    self.receipts = receipts
    self.vocabulary = vocabulary
    self.app = app
    self.environment = environment
    self.allowsUnsigned = allowsUnsigned
  }

  /// Converts a notification of either generation, signed data, a response, or a receipt.
  ///
  /// `now` is the date of signed data without a date, and the latest date of an unsigned input.
  public func read(_ bytes: [UInt8], now: Timestamp) throws(ConversionError) -> ConversionResult {
    let input = try ConversionInput(bytes)
    let message = Digest.sha256(bytes)
    var attempt = self
    var (claimed, unknown): ([String], [String]) = ([], [])
    while true {
      let refusal: ConversionError
      do throws(ConversionError) {
        var converted = try attempt.read(input, message, now)
        try check(converted.findings)
        converted.claimed += claimed
        converted.unknown = unknown.filter { !converted.claimed.contains($0) }
        converted.given.removeAll { claimed.contains($0) || unknown.contains($0) }
        return converted
      } catch { refusal = error }
      // A missing value is shown as unknown: nothing is stored under the name that replaces it.
      if refusal.isAbout(.environmentUnknown), attempt.environment == nil, !namesUndecided(input) {
        let claim = inside(input)?.claimedEnvironment
        attempt.environment = claim ?? .production
        if claim == nil { unknown.append("environment") } else { claimed.append("environment") }
      } else if refusal.isAbout(.unknownApp), attempt.app == nil {
        let claim = inside(input)?.bundleID
        attempt.app = claim ?? Self.nobody
        if claim == nil { unknown.append("bundleId") } else { claimed.append("bundleId") }
      } else {
        throw refusal
      }
    }
  }

  private static let nobody = "?"

  private func read(
    _ input: ConversionInput, _ message: Digest, _ now: Timestamp
  ) throws(ConversionError) -> ConversionResult {
    switch input {
    case .notificationHistory(let items): return try history(items, message, now)
    case .message(let object): return try read(object, message, now)
    case .jws(let jws): return try read(jws: jws, message, now)
    case .decoded(let payload, let kind):
      guard allowsUnsigned else {
        throw ConversionError(.unsigned, "a decoded \(kind.rawValue), without the signature that proves it")
      }
      return try unsigned(message, now).read(payload, kind)
    case .receipt(let text): return try read(receipt: text, message, now)
    }
  }

  /// Whether the input names an undocumented environment or several, so that the caller must select one.
  private func namesUndecided(_ input: ConversionInput) -> Bool {
    guard case .message(let object) = input else { return false }
    if VerifyReceiptResponseReader.isAnswer(object) {
      return VerifyReceiptResponse(object).namedEnvironments.areUndecided
    }
    if object["notification_type"] != nil { return V1NotificationBody(object).namedEnvironments.areUndecided }
    return object["environment"]?.string.map { Environment(rawValue: $0) == nil } ?? false
  }

  /// Returns the receipt inside a V1 body or response, proven or not.
  private func inside(_ input: ConversionInput) -> Receipt? {
    switch input {
    case .message(let object):
      let text = object["unified_receipt"]?.object?["latest_receipt"] ?? object["latest_receipt"]
      return text?.string.flatMap { receipts.read(Array($0.utf8)).receipt }
    case .notificationHistory, .jws, .decoded, .receipt: return nil
    }
  }

  private func check(_ findings: Findings) throws(ConversionError) {
    if let app, findings.app != app {
      throw ConversionError(.wrongBundle, "it is of \(findings.app), --app says \(app)")
    }
    if let environment, findings.environment != environment {
      throw ConversionError(
        .wrongEnvironment, "it is of \(findings.environment.rawValue), --environment says \(environment.rawValue)")
    }
  }

  private func unsigned(_ message: Digest, _ now: Timestamp) -> UnsignedReader {
    UnsignedReader(
      verifier: verifier, vocabulary: vocabulary, message: message, app: app, environment: environment, now: now)
  }
}

// MARK: - Notifications, signed data, answers

extension Conversion {
  private func read(
    _ object: JSONObject, _ message: Digest, _ now: Timestamp
  ) throws(ConversionError) -> ConversionResult {
    if let jws = object["signedPayload"]?.string { return try read(jws: Array(jws.utf8), message, now) }
    if object["notification_type"] != nil { return try legacyNotification(object, message, now) }
    if VerifyReceiptResponseReader.isAnswer(object) { return try legacyAnswer(object, message, now) }
    guard object["transactionId"] == nil else {
      throw ConversionError(MessageError(.unreadable, .notAMessage, "an id does not describe a purchase"))
    }
    return try evidence(MessageFormat(object), ClaimedPayload(answer: object), message, now)
  }

  private func read(jws: [UInt8], _ message: Digest, _ now: Timestamp) throws(ConversionError) -> ConversionResult {
    let claimed = ClaimedPayload(jws: jws)
    let refusal: ConversionError
    do throws(ConversionError) {
      guard claimed.kind == .notification else { return try evidence(.jws(jws), claimed, message, now) }
      do throws(MessageError) {
        return ConversionResult(try adapter.notification(jws: jws, message: message, now: now))
      } catch {
        throw ConversionError(error)
      }
    } catch { refusal = error }
    guard allowsUnsigned, let seen = claimed.environment, !seen.isSignedByApple else { throw refusal }
    return try testData(jws, message, now)
  }

  /// Reads test data of Xcode or LocalTesting without a trusted signature, and marks it.
  private func testData(
    _ jws: [UInt8], _ message: Digest, _ now: Timestamp
  ) throws(ConversionError) -> ConversionResult {
    let payload: VerifiedPayload
    do throws(VerificationError) {
      // Additional roots would make the verifier require their signature in test data.
      payload = try SignedDataVerifier(roots: .apple).verifyAny(
        jws, expecting: ExpectedClaims(environment: .unsignedTestData), now: now)
    } catch { throw ConversionError(MessageError(error)) }
    let reader = unsigned(message, now)
    return switch payload {
    case .notification(let all): try reader.read(all.notification.payload, .notification)
    case .transaction(let verified): try reader.read(verified.payload, .transaction)
    case .renewal(let verified): try reader.read(verified.payload, .renewal)
    case .appTransaction(let verified): try reader.read(verified.payload, .appTransaction)
    case .realtimeRequest(let verified): try reader.read(verified.payload, .realtimeRequest)
    }
  }

  private func history(
    _ items: [JSONValue], _ message: Digest, _ now: Timestamp
  ) throws(ConversionError) -> ConversionResult {
    var all: ConversionResult?
    for item in items {
      guard let jws = item.object?["signedPayload"]?.string else { continue }
      let one = try read(jws: Array(jws.utf8), message, now)
      if all == nil { all = one } else { try all?.add(one) }
    }
    guard let all else {
      throw ConversionError(MessageError(.authentic, .notAMessage, "a notification history without a notification"))
    }
    return all
  }

  private func evidence(
    _ told: MessageFormat, _ claimed: ClaimedPayload, _ message: Digest, _ now: Timestamp
  ) throws(ConversionError) -> ConversionResult {
    let named = claimed.app ?? app
    let reading: DecodedMessage
    do throws(MessageError) {
      reading = try adapter.evidence(told, app: named ?? "", environment: environment, message: message, now: now)
    } catch { throw ConversionError(error) }
    guard named != nil else { throw ConversionError(.unknownApp, "nothing in a \(reading.title) names an app") }
    var converted = ConversionResult(reading)
    if claimed.app == nil { converted.given.append("bundleId") }
    if claimed.environment == nil, environment != nil { converted.given.append("environment") }
    if claimed.isEnvironmentUnsigned { converted.claimed.append("environment") }
    return converted
  }
}

// MARK: - The old generation

extension Conversion {
  private func legacyNotification(
    _ object: JSONObject, _ message: Digest, _ now: Timestamp
  ) throws(ConversionError) -> ConversionResult {
    let body = V1NotificationBody(object)
    let claimed =
      body.bundleID ?? (body.latestReceiptInfo + body.latestExpiredReceiptInfo).lazy.compactMap(\.bundleID).first
    let origin = V1Context(app: claimed ?? app, environment: environment, trust: .none, receivedAt: now)
    do throws(MessageError) {
      var converted = ConversionResult(
        try adapter.legacyNotification(object, message, origin))
      if claimed == nil { converted.given.append("bundleId") }
      if !body.namedEnvironments.areDecisive { converted.given.append("environment") }
      return converted
    } catch { throw ConversionError(error) }
  }

  private func legacyAnswer(
    _ object: JSONObject, _ message: Digest, _ now: Timestamp
  ) throws(ConversionError) -> ConversionResult {
    let answer = VerifyReceiptResponse(object)
    let claimed = answer.receipt?.bundleID ?? answer.latestTransactions.lazy.compactMap(\.bundleID).first
    do throws(MessageError) {
      var converted = ConversionResult(
        try adapter.evidence(
          .object(object), app: claimed ?? app ?? "", environment: environment, message: message, now: now))
      if claimed == nil { converted.given.append("bundleId") }
      if !answer.namedEnvironments.areDecisive { converted.given.append("environment") }
      return converted
    } catch { throw ConversionError(error) }
  }
}

extension V1NotificationBody {
  fileprivate var namedEnvironments: NamedEnvironments {
    NamedEnvironments([environment, unifiedReceipt?.environment])
  }
}

extension VerifyReceiptResponse {
  fileprivate var namedEnvironments: NamedEnvironments {
    NamedEnvironments([environment, isFlat ? nil : receipt?.receiptType])
  }
}

// MARK: - Receipts

extension Conversion {
  private func read(
    receipt text: [UInt8], _ message: Digest, _ now: Timestamp
  ) throws(ConversionError) -> ConversionResult {
    switch receipts.read(text) {
    case .verified(let verified):
      let findings = ReceiptMapping(vocabulary: vocabulary).findings(
        of: verified, environment: environment ?? verified.receipt.claimedEnvironment, message: message)
      return try converted(findings, verified.receipt, .receipt)
    case .refused(let receipt, let refusal):
      guard allowsUnsigned else { throw ConversionError(refusal) }
      let mapping = ReceiptMapping(vocabulary: vocabulary, takesTestIdentities: true)
      let findings = mapping.unverifiedFindings(
        of: receipt, environment: environment ?? receipt.claimedEnvironment, receivedAt: now, message: message)
      return try converted(findings, receipt, .none)
    case .unreadable(let refusal): throw ConversionError(refusal)
    }
  }

  private func converted(
    _ findings: Findings?, _ receipt: Receipt, _ trust: MessageDecoder.Proof
  ) throws(ConversionError) -> ConversionResult {
    guard let findings else {
      guard receipt.bundleID != nil else { throw ConversionError(.unknownApp, "a receipt without a bundle id") }
      throw ConversionError(.environmentUnknown, "nothing in the receipt names an environment")
    }
    do throws(MessageError) { try MessageError.checkLengths(findings) } catch { throw ConversionError(error) }
    var converted = ConversionResult(findings: findings, trust: trust)
    guard receipt.environment == nil else { return converted }
    if environment == nil { converted.claimed = ["environment"] } else { converted.given = ["environment"] }
    return converted
  }
}
