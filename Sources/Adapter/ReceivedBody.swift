package import JSON
import Signing

/// A body posted as a notification, with its parsed format.
///
/// An unreadable body has the reason instead.
package struct ReceivedBody: Sendable {
  package let bytes: [UInt8]
  /// The body as a JSON object; `nil` for other bodies, and for a bare signed payload, whose JWS is found without JSON.
  package let object: JSONObject?
  /// The format, or the reason why it is unknown.
  let told: Result<MessageFormat, MessageError>
  /// Whether it is only `{"signedPayload":"…"}`, like nearly every body from Apple.
  package let isSignedAlone: Bool

  package init(_ bytes: [UInt8]) { self.init(bytes, limits: .standard) }

  package init(kept bytes: [UInt8]) { self.init(bytes, limits: .stored) }

  init(_ bytes: [UInt8], limits: JSONLimits) {
    self.bytes = bytes
    if bytes.count <= limits.bytes, let payload = Self.signedPayload(alone: bytes) {
      (object, isSignedAlone) = (nil, true)
      told = .success(.notificationV2(jws: Array(bytes[payload])))
      return
    }
    isSignedAlone = false
    do throws(MessageError) {
      let detection = try MessageFormat.read(bytes, limits: limits)
      told = .success(detection.told)
      object = detection.object
    } catch {
      told = .failure(error)
      object = nil
    }
  }

  /// The body of a V1 notification, for checking its sender; otherwise `nil`.
  package var legacyNotification: JSONObject? {
    if case .success(.notificationV1(let object)) = told { object } else { nil }
  }

  /// Rejects a V1 body that is larger than any of Apple's, because any sender with the app's secret can write one.
  ///
  /// Only for posted notifications. Earlier messages, and evidence with an app's token, have higher limits.
  package func checkRows(app: String) throws(MessageError) {
    let lists = ["latest_receipt_info", "latest_expired_receipt_info", "pending_renewal_info"]
    let objects = [legacyNotification, legacyNotification?["unified_receipt"]?.object].compactMap(\.self)
    let count = objects.reduce(0) { sum, object in lists.reduce(sum) { $0 + (object[$1]?.array?.count ?? 0) } }
    guard count > V1NotificationReader.mostRows else { return }
    throw MessageError(
      .legacy, .tooManyRows, "\(count) rows, Apple sends 100; at most \(V1NotificationReader.mostRows) are taken",
      claimedApp: app)
  }

  /// The notification in its stored and forwarded form: a bare signed payload without additions of strangers.
  ///
  /// Apple sends only the object that names it, perhaps with some white space; such a body is stored unchanged. Any
  /// other member of the object is a stranger's. A V1 body is stored and forwarded byte for byte.
  package var kept: ReceivedBody {
    guard !isSignedAlone, case .success(.notificationV2) = told, let object, let jws = object["signedPayload"] else {
      return self
    }
    let plain = JSONObject([("signedPayload", jws)]).encoded()
    // The new text is parsed again, because it may be longer than the limit: escapes take more bytes.
    return object.count == 1 && bytes.count <= plain.count + Self.wrapping ? self : ReceivedBody(plain)
  }

  /// Whether a body is only a signed payload, so that little is read before the signature check.
  package static func isSignedAlone(_ body: [UInt8]) -> Bool { signedPayload(alone: body) != nil }

  /// Returns the range of the JWS in a body without other content; otherwise `nil`, also if the text is not a JWS.
  private static func signedPayload(alone body: [UInt8]) -> Range<Int>? {
    let end = body.count - tail.count
    guard end > head.count, body.starts(with: head), body[end...].elementsEqual(tail) else { return nil }
    var place = body.span.endOfBase64URL(from: head.count)
    while place < end {
      guard body[place] == UInt8(ascii: ".") else { return nil }
      place = body.span.endOfBase64URL(from: place + 1)
    }
    return head.count..<end
  }

  private static let head = Array("{\"signedPayload\":\"".utf8)
  private static let tail = Array("\"}".utf8)
  /// The bytes of white space around Apple's signed payload.
  private static let wrapping = 64
}
