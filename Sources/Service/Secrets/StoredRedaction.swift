import Adapter
import Intake
import JSON
import Ledger
import Signing

/// What is to stand in the place of something that was kept, without the secrets that were found in it.
struct StoredRedaction: Sendable {
  let key: MasterKey
  let secrets: SecretFilter
  /// Tells whether a message can still be read when a secret was taken out of it.
  let adapter: Adapter
  /// The most bytes that are written instead of a body.
  var longest = CompactBody.longest

  /// Returns nil for what may stay as it is.
  func redacted(_ kept: SecretSearchPage.Kept) -> [UInt8]? {
    switch kept {
    case .refused(let kept): return redacted(kept)
    case .message(let stored): return redacted(stored)
    case .text(let text):
      let shown = secrets.redacted(text)
      return shown == text ? nil : Array(shown.utf8)
    case .userID(let text):
      var hidden = HiddenSecrets(secrets)
      let short = hidden.removed(from: .string(text))
      return hidden.isFound ? Array((short.string ?? "").utf8) : nil
    }
  }

  private func redacted(_ stored: StoredMessage) -> [UInt8]? {
    let (body, kind) = (stored.message.body, stored.message.kind)
    if let remains = Tombstone.remains(in: body) { return redacted(remains, kind).map(tombstone) }
    guard let short = redacted(body, kind) else { return nil }
    guard CompactBody(short).bytes.count <= longest else {
      guard let short = inPlace(body, kind), !isLost(short, stored) else { return Tombstone.body(with: []) }
      return short
    }
    return isLost(short, stored) ? tombstone(short) : short
  }

  private func redacted(_ kept: QuarantinedMessage) -> [UInt8]? {
    let (body, kind) = (kept.message.body, kept.message.kind)
    // A signed payload that nothing vouches for is searched too, as where such messages arrive.
    let isProven = QuarantineSource(rawValue: kept.source)?.isApple ?? false
    let searchesPayload = kind == .notification && !isProven
    func searched(_ short: [UInt8]?) -> [UInt8]? {
      guard searchesPayload else { return short }
      return SignedPayload.withoutSecrets(in: short ?? body, secrets) ?? short
    }
    guard let short = searched(redacted(body, kind)) else { return nil }
    if short.count <= longest { return short }
    if let short = inPlace(body, kind), searched(short) == short { return short }
    return Tombstone.body(with: [])
  }

  /// What is left of a message, for people; nothing of what is too long.
  private func tombstone(_ remains: [UInt8]) -> [UInt8] {
    let body = Tombstone.body(with: remains)
    return CompactBody(body).bytes.count <= longest ? body : Tombstone.body(with: [])
  }

  /// The body with a marker in the place of each registered secret, every other byte as it was; nil if that is not enough.
  ///
  /// For what is too long once it is written anew: an escape such as `\n` takes six bytes then.
  private func inPlace(_ body: [UInt8], _ kind: InboxMessage.Kind) -> [UInt8]? {
    guard let short = secrets.redacted(body), redacted(short, kind) == nil,
      kind != .evidence || Self.userID(short) == Self.userID(body)
    else { return nil }
    return short
  }

  private func redacted(_ body: [UInt8], _ kind: InboxMessage.Kind) -> [UInt8]? {
    switch kind {
    // Apple's own words, of which nobody else wrote any: nothing but a registered secret is none of them.
    case .verifyReceiptAnswer, .apiAnswer: return secrets.redacted(body)
    // The receipt alone, which Apple signed; what stood beside it in the request is not kept.
    case .verifiedReceipt: return nil
    case .notification, .notificationHistory, .evidence: break
    }
    // As where they arrive: payloads that nobody verified are kept decoded, in evidence and beside what Apple puts into
    // a notification.
    let hasPayloads = kind == .evidence || kind == .notification && LegacyPassword.hasMore(in: body)
    guard HiddenSecrets.mayBe(in: body) || hasPayloads && HiddenSecrets.mayBe(encodedIn: body) else { return nil }
    let short = LegacyPassword.redaction(of: body, isStored: true, limits: .stored, key: key, secrets: secrets).body
    if short == body { return nil }
    return kind == .evidence ? Self.withoutUserID(short, body) : short
  }

  /// Whether a message can be read, and could not with this body.
  private func isLost(_ short: [UInt8], _ stored: StoredMessage) -> Bool {
    // What these roots refuse as it is, a rebuild refuses too: that is not for the redaction to hide.
    isReadable(stored) && !isReadable(stored.with(body: short))
  }

  private func isReadable(_ stored: StoredMessage) -> Bool { (try? adapter.findings(of: stored)) != nil }

  private static func userID(_ body: [UInt8]) -> JSONValue? {
    (try? JSONReader.read(body, limits: .stored))?.object?["userId"]
  }

  /// Nobody is named where the user id was a secret: what is left of it, others may have too.
  private static func withoutUserID(_ body: [UInt8], _ before: [UInt8]) -> [UInt8] {
    guard var object = try? JSONReader.read(body, limits: .stored).object,
      let old = try? JSONReader.read(before, limits: .stored).object, object["userId"] != old["userId"]
    else { return body }
    object["userId"] = .null
    return object.encoded()
  }
}
