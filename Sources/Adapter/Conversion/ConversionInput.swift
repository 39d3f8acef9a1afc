import JSON
import Receipts
import Signing

/// The input of a conversion, classified only by its content.
enum ConversionInput {
  /// `{"notificationHistory": [{"signedPayload": …}]}`, an App Store Server API response.
  case notificationHistory([JSONValue])
  /// A body with signed data, a V1 notification or a response, which the adapter classifies itself.
  case message(JSONObject)
  case jws([UInt8])
  case decoded(JSONObject, PayloadKind)
  case receipt([UInt8])

  init(_ bytes: [UInt8]) throws(ConversionError) {
    guard let first = bytes.first(where: { !Self.isSpace($0) }) else {
      throw ConversionError(.emptyInput, "there is nothing to convert")
    }
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""):
      // A decoded iOS 6 receipt begins like JSON, but is not.
      if bytes.contains(UInt8(ascii: "=")), (try? JSONReader.read(bytes)) == nil {
        self = .receipt(bytes)
        return
      }
      let value: JSONValue
      do throws(JSONError) { value = try JSONReader.read(bytes) } catch {
        throw ConversionError(MessageError(error))
      }
      self = try Self.told(value)
    default: self = Self.told(bytes)
    }
  }

  private static func told(_ value: JSONValue) throws(ConversionError) -> Self {
    if let text = value.string { return told(Array(text.utf8)) }
    guard let object = value.object else {
      throw ConversionError(MessageError(.unreadable, .notAMessage, "JSON, but neither an object nor a string"))
    }
    if let receipt = object["receipt-data"]?.string { return .receipt(Array(receipt.utf8)) }
    if let history = object["notificationHistory"]?.array { return .notificationHistory(history) }
    let carriers = [
      "signedPayload", "notification_type", "signedTransactions", "signedTransactionInfo", "signedRenewalInfo",
      "signedAppTransactionInfo",
    ]
    let isMessage =
      carriers.contains { object[$0] != nil } || object["data"]?.array != nil
      || VerifyReceiptResponseReader.isAnswer(object)
    guard !isMessage else { return .message(object) }
    let kind = PayloadKind(of: object)
    // A decoded notification contains signed data; any other object with signed data is a client library's.
    if kind != .notification, let signed = SignedMember.all(in: object).first {
      return signed.kind == .jws ? .jws(signed.text) : .receipt(signed.text)
    }
    return kind.map { .decoded(object, $0) } ?? .message(object)
  }

  /// Classifies text: base64 has no dots; a JWS has two.
  private static func told(_ text: [UInt8]) -> Self {
    let start = text.drop(while: isSpace)
    let end = start.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start.startIndex
    let trimmed = Array(start[..<end])
    let isJWS = trimmed.count { $0 == UInt8(ascii: ".") } == 2 && trimmed.allSatisfy { 0x20 < $0 && $0 < 0x7F }
    return isJWS ? .jws(trimmed) : .receipt(text)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
}

/// The claims of unproven signed data, only to select the verification.
struct ClaimedPayload {
  let kind: PayloadKind?
  let app: String?
  let environment: AppStoreEnvironment?
  /// Whether only the envelope of a response names the environment.
  private(set) var isEnvironmentUnsigned = false

  /// Reads the claims of a JWS; empty if unreadable.
  init(jws: some Sequence<UInt8>) {
    let segments = Array(jws).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let payload = segments.count == 3 ? Base64.url.decode(Array(segments[1])) : nil
    self.init(payload.flatMap { try? JSONReader.read($0).object } ?? JSONObject())
  }

  init(_ payload: JSONObject) {
    kind = PayloadKind(of: payload)
    let carriers = ["data", "summary", "externalPurchaseToken", "appData"].compactMap { payload[$0]?.object }
    let claims = carriers.first ?? payload
    app = claims["bundleId"]?.string
    let name = claims["environment"]?.string ?? claims["receiptType"]?.string
    environment = name.flatMap(AppStoreEnvironment.init(rawValue:))
  }

  /// Reads the claims of a response's envelope, otherwise of its first signed part.
  init(answer: JSONObject) {
    var inside: ClaimedPayload?
    func look(_ value: JSONValue, _ key: String) {
      guard inside?.app == nil else { return }
      if let object = value.object { for member in object { look(member.value, member.key) } }
      for item in value.array ?? [] { look(item, key) }
      if key.hasPrefix("signed"), let jws = value.string { inside = ClaimedPayload(jws: jws.utf8) }
    }
    look(.object(answer), "")
    let envelope = ClaimedPayload(answer)
    kind = inside?.kind
    app = envelope.app ?? inside?.app
    environment = envelope.environment ?? inside?.environment
    isEnvironmentUnsigned = envelope.environment != nil && inside?.environment == nil
  }
}
