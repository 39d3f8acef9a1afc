import JSON
import Receipts
import Signing

/// What is to be converted, told by its content alone.
enum ConversionInput {
  /// `{"notificationHistory": [{"signedPayload": …}]}`, an answer of the App Store Server API.
  case notificationHistory([JSONValue])
  /// A body with something signed in it, a V1 notification or an answer: whatever the adapter tells apart itself.
  case message(JSONObject)
  /// A bare JWS.
  case jws([UInt8])
  /// A payload that somebody decoded.
  case decoded(JSONObject, PayloadKind)
  /// A receipt, as text or bytes.
  case receipt([UInt8])

  init(_ bytes: [UInt8]) throws(ConversionError) {
    guard let first = bytes.first(where: { !Self.isSpace($0) }) else {
      throw ConversionError(.emptyInput, "there is nothing to convert")
    }
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""):
      // An iOS 6 receipt that was decoded already begins like JSON and is none.
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
    // A decoded notification holds what is signed; any other object that does is a client library's.
    if kind != .notification, let signed = SignedMember.all(in: object).first {
      return signed.kind == .jws ? .jws(signed.text) : .receipt(signed.text)
    }
    return kind.map { .decoded(object, $0) } ?? .message(object)
  }

  /// Base64 has no dots; a JWS has two.
  private static func told(_ text: [UInt8]) -> Self {
    let start = text.drop(while: isSpace)
    let end = start.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start.startIndex
    let trimmed = Array(start[..<end])
    let isJWS = trimmed.count { $0 == UInt8(ascii: ".") } == 2 && trimmed.allSatisfy { 0x20 < $0 && $0 < 0x7F }
    return isJWS ? .jws(trimmed) : .receipt(text)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
}

/// What unproven signed data claims, read only to know how to go about proving it.
struct ClaimedPayload {
  let kind: PayloadKind?
  let app: String?
  let environment: AppStoreEnvironment?
  /// Whether only the envelope of an answer names the environment.
  private(set) var isEnvironmentUnsigned = false

  /// Of a JWS; nothing of what cannot be read.
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

  /// Of an answer: what its envelope says, else the first thing signed in it.
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
