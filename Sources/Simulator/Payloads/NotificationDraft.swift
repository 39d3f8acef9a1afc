package import JSON
package import Signing
package import Time

/// A notification before it is signed, byte for byte the same for the same seed.
package struct NotificationDraft: Hashable, Sendable {
  /// The content; exactly one, as Apple documents.
  package enum Content: Hashable, Sendable {
    case data(NotificationSubject)
    case summary(JSONObject)
    case externalPurchaseToken(JSONObject)
    case appData(JSONObject)
  }

  package var app: SimulatedApp
  package var notificationType: String
  package var subtype: String?
  package var notificationUUID: String
  package var signedDate: Timestamp
  package var content: Content

  package init(
    _ notificationType: String, _ subtype: String? = nil, of app: SimulatedApp, at date: Timestamp, uuid: String,
    _ content: Content
  ) {
    self.app = app
    self.notificationType = notificationType
    self.subtype = subtype
    notificationUUID = uuid
    signedDate = date
    self.content = content
  }

  /// The type and subtype for people: `DID_RENEW/BILLING_RECOVERY`.
  package var title: String { subtype.map { "\(notificationType)/\($0)" } ?? notificationType }

  /// The purchase in `data`; `nil` for other contents.
  package var subject: NotificationSubject? {
    switch content {
    case .data(let subject): subject
    case .summary, .externalPurchaseToken, .appData: nil
    }
  }

  /// Creates the notification that Apple posts, completely signed by `signer`.
  package func signed(by signer: PayloadSigner) throws(CertificateError) -> SignedNotification {
    let jws = try signer.sign(payload(signedBy: signer))
    return SignedNotification(self, jws: jws)
  }

  /// Creates the payload, with its nested payloads signed by `signer`.
  package func payload(signedBy signer: PayloadSigner) throws(CertificateError) -> JSONObject {
    var payload = PayloadMembers()
    payload.add("notificationType", notificationType)
    payload.add("subtype", subtype)
    payload.add("notificationUUID", notificationUUID)
    switch content {
    case .data(let subject): payload.add("data", .object(try data(subject, signer)))
    case .summary(let summary): payload.add("summary", .object(summary))
    case .externalPurchaseToken(let token): payload.add("externalPurchaseToken", .object(token))
    case .appData(let appTransaction):
      var data = carrier()
      data.add("signedAppTransactionInfo", try signer.nested(appTransaction))
      payload.add("appData", .object(data.object))
    }
    payload.add("version", "2.0")
    payload.add("signedDate", signedDate)
    return payload.object
  }

  private func data(_ subject: NotificationSubject, _ signer: PayloadSigner) throws(CertificateError) -> JSONObject {
    var data = carrier()
    data.add("bundleVersion", app.bundleVersion)
    if let transaction = subject.transaction { data.add("signedTransactionInfo", try signer.nested(transaction)) }
    if let renewal = subject.renewal { data.add("signedRenewalInfo", try signer.nested(renewal)) }
    data.add("status", subject.status)
    data.add("consumptionRequestReason", subject.consumptionRequestReason)
    return data.object
  }

  private func carrier() -> PayloadMembers {
    var carrier = PayloadMembers()
    carrier.add("appAppleId", app.appAppleID)
    carrier.add("bundleId", app.bundleID)
    carrier.add("environment", app.environment.rawValue)
    return carrier
  }
}

/// The subject of a notification's `data`: payloads of a transaction and a renewal, both or neither.
package struct NotificationSubject: Hashable, Sendable {
  package var transaction: JSONObject?
  package var renewal: JSONObject?
  package var status: Int64?
  package var consumptionRequestReason: String?

  package init(
    transaction: JSONObject? = nil, renewal: JSONObject? = nil, status: Int64? = nil,
    consumptionRequestReason: String? = nil
  ) {
    self.transaction = transaction
    self.renewal = renewal
    self.status = status
    self.consumptionRequestReason = consumptionRequestReason
  }
}
