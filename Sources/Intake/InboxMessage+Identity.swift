package import Adapter
package import Ledger
import Purchases
package import Time

extension InboxMessage {
  /// A notification with the digest it is known by, and those by which it may be stored.
  ///
  /// - Parameters:
  ///   - body: without secrets.
  ///   - received: with the secrets that were taken out; nil when there were none.
  package init(
    notification body: ReceivedBody, received: ReceivedBody? = nil, kind: Kind = .notification,
    receivedAt: Milliseconds
  ) {
    self.init(
      kind, body.kept.bytes, MessageIdentity(ofNotification: body),
      unredacted: received.map { MessageIdentity(ofNotification: $0) }, receivedAt: receivedAt)
  }

  package init(notification body: [UInt8], kind: Kind = .notification, receivedAt: Milliseconds) {
    self.init(notification: ReceivedBody(body), kind: kind, receivedAt: receivedAt)
  }

  /// Evidence or an answer about `app`, with the digest it is known by, and those by which it may be stored.
  package init(
    _ kind: Kind, _ body: [UInt8], received: [UInt8]? = nil, app: String, claim: Claim, receivedAt: Milliseconds
  ) {
    func identity(of body: [UInt8]) -> MessageIdentity {
      MessageIdentity(ofEvidence: body, app: app, environment: claim.environment, userID: claim.userID)
    }
    self.init(
      kind, body, identity(of: body), unredacted: received.map(identity), claim: claim, receivedAt: receivedAt)
  }

  private init(
    _ kind: Kind, _ body: [UInt8], _ identity: MessageIdentity, unredacted: MessageIdentity?, claim: Claim? = nil,
    receivedAt: Milliseconds
  ) {
    self.init(
      kind: kind, body: body, claim: claim, receivedAt: receivedAt, digest: identity.digest,
      unredacted: unredacted?.digest)
  }

  /// A message of quarantine, which may be in the inbox under another digest by now.
  package func foundAgain(app: String) -> Self {
    let identity =
      switch kind {
      case .notification, .notificationHistory: MessageIdentity(ofNotification: body)
      case .evidence, .verifyReceiptAnswer, .apiAnswer, .verifiedReceipt:
        MessageIdentity(ofEvidence: body, app: app, environment: claim?.environment, userID: claim?.userID)
      }
    return known(also: identity.digest)
  }
}
