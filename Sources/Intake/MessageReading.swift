package import Adapter
package import Ledger
package import Purchases
import Signing
import Time

extension MessageDecoder {
  /// Reads a message of any kind: one rule for what arrives, what is replayed from quarantine and what a rebuild reads again.
  ///
  /// Time counts as of the message's arrival, so that it reads alike whenever it is read.
  ///
  /// - Parameters:
  ///   - app: whose it is. Nil for a notification whose sender nobody had to find out, as Apple's signature tells whose it is.
  ///   - environment: the one that Apple was asked in, or a back end said, for what does not say it itself.
  package func reading(of message: InboxMessage, app: String?, environment: Environment?) throws(MessageError)
    -> DecodedMessage
  {
    let (body, digest, now) = (message.body, message.digest, message.receivedAt)
    switch message.kind {
    case .notification, .notificationHistory:
      return try notification(body, message: digest, origin: origin(app, of: message), now: now)
    case .verifyReceiptAnswer:
      return try answer(body, app: known(app), environment: environment, message: digest, now: now)
    case .apiAnswer:
      return try apiAnswer(body, app: known(app), environment: environment, message: digest, now: now)
    case .evidence:
      return try evidence(
        body, app: known(app), environment: environment, userID: message.claim?.userID,
        userSince: message.claim?.userSince, message: digest, now: now)
    case .verifiedReceipt:
      return try postedReceipt(body, app: known(app), environment: environment, message: digest, now: now)
    }
  }

  /// The same of a notification whose body was read already.
  func reading(of message: InboxMessage, _ body: ReceivedBody, app: String?) throws(MessageError) -> DecodedMessage {
    try notification(
      body, message: message.digest, origin: origin(app, of: message), now: message.receivedAt)
  }

  /// What a V1 body says of its environment is in it; its sender was known by the shared secret.
  private func origin(_ app: String?, of message: InboxMessage) -> V1Context? {
    app.map { V1Context(app: $0, environment: nil, trust: .sharedSecret, receivedAt: message.receivedAt) }
  }

  /// Reads a message of the inbox again, with this build's rules and these roots.
  package func findings(of stored: StoredMessage) throws(MessageError) -> Findings {
    try reading(of: stored.message, app: stored.bundleID, environment: stored.claim.environment).findings
  }

  private func known(_ app: String?) throws(MessageError) -> String {
    guard let app else { throw MessageError(.authentic, .unknownApp, "nothing names its app") }
    return app
  }
}

extension InboxMessage {
  /// The environment that was noted beside evidence or an answer about this app.
  ///
  /// Builds before the claims noted none beside an answer of the App Store Server API that they set aside: the message's
  /// digest covers it, and so tells it.
  func askedEnvironment(app: String) -> Environment? {
    if let environment = claim?.environment { return environment }
    guard kind == .apiAnswer else { return nil }
    return Environment.allCases.first { environment in
      MessageIdentity(ofEvidence: body, app: app, environment: environment).digest == digest
    }
  }
}

extension SubmissionMetadata {
  /// Before everything that is said since, where nobody knows since when; nil: since the message came.
  var userSince: Timestamp? { isStored ? Timestamp(0) : nil }
}
