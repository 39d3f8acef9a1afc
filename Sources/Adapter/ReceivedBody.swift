package import JSON
import Signing

/// A body that was posted as a notification, and what was read of it: whoever needs to know what it is asks this value.
///
/// A body that cannot be read has one too; `told` has the reason.
package struct ReceivedBody: Sendable {
  package let bytes: [UInt8]
  /// The body as a JSON object; nil for other bodies, and for a signed payload alone, whose JWS is found without JSON.
  package let object: JSONObject?
  /// What it is, or why nobody can tell.
  let told: Result<MessageFormat, MessageError>
  /// Whether it is `{"signedPayload":"…"}` and nothing else, as nearly every body of Apple's is.
  package let isSignedAlone: Bool

  package init(_ bytes: [UInt8]) { self.init(bytes, limits: .standard) }

  /// A body that was kept, of whatever length.
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

  /// The body of a V1 notification, for whoever has to find out who sent it; nil for anything else.
  package var legacyNotification: JSONObject? {
    if case .success(.notificationV1(let object)) = told { object } else { nil }
  }

  /// Refuses a V1 body that is larger than any of Apple's: whoever has the app's secret can write one.
  ///
  /// For what is posted as a notification. What was taken in before, or is handed in with an app's token, is read with more.
  package func checkRows(app: String) throws(MessageError) {
    let lists = ["latest_receipt_info", "latest_expired_receipt_info", "pending_renewal_info"]
    let objects = [legacyNotification, legacyNotification?["unified_receipt"]?.object].compactMap(\.self)
    let count = objects.reduce(0) { sum, object in lists.reduce(sum) { $0 + (object[$1]?.array?.count ?? 0) } }
    guard count > V1NotificationReader.mostRows else { return }
    throw MessageError(
      .legacy, .tooManyRows, "\(count) rows, Apple sends 100; at most \(V1NotificationReader.mostRows) are taken",
      claimedApp: app)
  }

  /// The notification as it is kept and forwarded: a signed payload alone, without what anybody can wrap around it.
  ///
  /// Apple sends nothing around it but the object that names it, with some white space at most: such a body is kept as it
  /// came. Whatever else is a member of the object, a stranger put there. A V1 body is forwarded byte for byte, and is kept
  /// so.
  package var kept: ReceivedBody {
    guard !isSignedAlone, case .success(.notificationV2) = told, let object, let jws = object["signedPayload"] else {
      return self
    }
    let plain = JSONObject([("signedPayload", jws)]).encoded()
    // The new text is read again, because it may be longer than the limit: escapes take more bytes.
    return object.count == 1 && bytes.count <= plain.count + Self.wrapping ? self : ReceivedBody(plain)
  }

  /// Whether nearly nothing of a body has to be read before its signature: it is a signed payload and nothing else.
  package static func isSignedAlone(_ body: [UInt8]) -> Bool { signedPayload(alone: body) != nil }

  /// Where the JWS stands in a body that is nothing else; nil for every other body, also where the text is no JWS.
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
  /// Bytes around a signed payload that may be white space of Apple's.
  private static let wrapping = 64
}
