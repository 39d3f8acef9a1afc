package import Adapter
package import Ledger
package import Signing
package import Time

/// A notification as it came, and as it is to be kept.
///
/// Each is read once. They are two only if secrets were taken out: what is kept is what a replay and a rebuild will read, so
/// it is decided on that.
package struct ReceivedNotification: Sendable {
  /// With the secrets that may be in it: for whoever passes it on, and for nobody else.
  package let received: ReceivedBody
  package let message: InboxMessage
  /// What stands in `message`.
  let body: ReceivedBody

  /// What was posted, of which the secrets are taken out before anything of it is kept.
  ///
  /// - Parameter secrets: finds those that are registered.
  package init(_ bytes: [UInt8], key: MasterKey, secrets: SecretFilter, receivedAt: Milliseconds) {
    received = ReceivedBody(bytes)
    // What is signed is read as it came: a secret in it is taken out of what is kept, not out of what is verified.
    guard !received.isSignedAlone, LegacyPassword.mayBe(in: bytes) else {
      body = received.kept
      message = InboxMessage(notification: received, receivedAt: receivedAt)
      return
    }
    // Whatever else it is: no secret is kept because a signature stands beside it.
    if let short = SignedPayload.withoutSecretsBeside(in: received, key: key, secrets: secrets) {
      body = short.kept
      message = InboxMessage(notification: short, receivedAt: receivedAt)
      return
    }
    let (short, coded) = LegacyPassword.redaction(of: received, key: key, secrets: secrets)
    body = short.kept
    message = InboxMessage(
      notification: short, received: short.bytes == coded.bytes ? nil : coded, receivedAt: receivedAt)
  }

  /// A message that was kept, or that Apple told of in another way.
  package init(_ message: InboxMessage) {
    received = ReceivedBody(kept: message.body)
    body = received
    self.message = message
  }
}
