package import Adapter
package import Ledger
import Purchases
package import Time

extension InboxMessage {
  /// A notification as it is kept: as it came, of V2 the signed payload alone.
  package init(notification body: ReceivedBody, kind: Kind = .notification, receivedAt: Timestamp) {
    self.init(
      kind: kind, body: body.kept.bytes, claim: nil, receivedAt: receivedAt,
      digest: MessageIdentity(ofNotification: body).digest)
  }

  package init(notification body: [UInt8], kind: Kind = .notification, receivedAt: Timestamp) {
    self.init(notification: ReceivedBody(body), kind: kind, receivedAt: receivedAt)
  }

  /// Evidence or an answer about `app`.
  package init(_ kind: Kind, _ body: [UInt8], app: String, claim: SubmissionMetadata, receivedAt: Timestamp) {
    let identity = MessageIdentity(ofEvidence: body, app: app, environment: claim.environment, userID: claim.userID)
    self.init(kind: kind, body: body, claim: claim, receivedAt: receivedAt, digest: identity.digest)
  }
}
