package import Adapter
import JSON
package import Ledger
import Runtime
package import Signing

/// The member of a V2 notification that Apple signs: it is verified as it was received, and kept without secrets.
package enum SignedPayload {
  private static let name = "signedPayload"

  /// Whether a body may have the member: its name stands there, or an escape that may spell it.
  package static func mayBe(in body: [UInt8]) -> Bool {
    HiddenSecrets.hasEscape(in: body)
      || body.span.firstRange(of: letters.span, from: 0, before: body.count) != nil
  }

  private static let letters = Array("Payload".utf8)

  /// Returns a V2 body without the secrets beside its signed payload, which stays as it was received; nil for other bodies.
  package static func withoutSecretsBeside(
    in body: ReceivedBody, key: MasterKey, secrets: SecretFilter
  ) -> ReceivedBody? {
    guard let object = body.object, let jws = object[name], jws.string != nil else { return nil }
    var others = object
    others[name] = ""
    let plain = others.encoded()
    let (short, _) = LegacyPassword.redaction(of: ReceivedBody(plain, of: others), key: key, secrets: secrets)
    if short.bytes == plain { return body }
    var kept = short.object ?? [:]
    kept[name] = jws
    return ReceivedBody(kept.encoded())
  }

  /// Returns a V2 body with a marker in the place of its signed payload; nil if no secret is encoded in it.
  ///
  /// What is found is a registered secret or a password in the header, the payload or the signature, also of a JWS within.
  /// Only for a payload that nothing vouches for. Apple writes no secrets, and a signature does not outlast a change.
  package static func withoutSecrets(in body: [UInt8], _ secrets: SecretFilter) -> [UInt8]? {
    guard var object = try? JSONReader.read(body, limits: .stored).object, let jws = object[name]?.string else {
      return nil
    }
    var hidden = HiddenSecrets(secrets, readsHeaders: true)
    let short = hidden.removed(from: .string(jws))
    guard hidden.isFound else { return nil }
    object[name] = short
    return object.encoded()
  }
}

extension Intake.Decision {
  /// Returns the decision with a body in whose signed payload no secrets are, where nothing vouches for the payload.
  ///
  /// Such a message is not forwarded: it is not what was received any more.
  package func withoutSecrets(_ secrets: SecretFilter) -> Self {
    guard let refusal, refusal.kind != .authentic,
      let body = SignedPayload.withoutSecrets(in: entry.message.body, secrets)
    else { return self }
    var entry = entry
    entry.message = entry.message.kept(as: body)
    entry.addressee = nil
    return Self(entry: entry, reading: reading, refusal: refusal)
  }
}
