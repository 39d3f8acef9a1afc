import JSON
import Mappings
import Purchases
import Signing
import Time
import Wire

/// Maps a V2 notification to an event, by `events.tsv`.
struct EventMapping {
  let vocabulary: Vocabulary
  let message: Digest

  /// Returns the event; `nil` if the notification has no type.
  func event(
    _ verified: VerifiedNotification, purchase: PurchaseStatement?, in environment: Environment
  ) throws(MessageError) -> Event? {
    try event(
      verified.notification, app: verified.bundleID, purchase: purchase,
      renewed: verified.renewal.flatMap { RenewalPayload($0.payload).originalTransactionId }, in: environment)
  }

  /// - Parameter renewed: the originalTransactionId of the renewal inside, if there is no purchase.
  func event(
    _ notification: some DatedPayload, app: String, purchase: PurchaseStatement?, renewed: String?,
    in environment: Environment
  ) throws(MessageError) -> Event? {
    let payload = NotificationPayload(notification.payload)
    guard let type = payload.notificationType else { return nil }
    guard let signedAt = notification.signedAt else {
      throw MessageError(.authentic, .missingSignedDate, "a notification without signedDate", claimedApp: app)
    }
    let row = vocabulary.events[type, payload.subtype]
    return Event(
      app: app, environment: environment, notificationUUID: payload.notificationUUID,
      notificationType: type, subtype: payload.subtype,
      originalTransactionID: purchase?.key.originalTransactionID ?? renewed,
      transactionID: purchase?.facts.text(.transactionId), line: purchase?.key.line,
      date: moment(row?.moment ?? .signed, purchase?.facts) ?? signedAt, source: .signedV2,
      rank: Rank(asOf: signedAt, tieBreak: Array(message.bytes.prefix(16))), details: details(payload),
      message: message.bytes, rule: row?.id)
  }

  private func moment(_ moment: EventTable.Moment, _ facts: Facts<PurchaseField>?) -> Timestamp? {
    switch moment {
    case .purchase: facts?.date(.purchaseDate)
    case .expiry: facts?.date(.expiresDate)
    case .revocation: facts?.date(.revocationDate)
    case .signed: nil
    }
  }

  /// Returns the members of the envelope other than its app, environment and signed payloads.
  private func details(_ payload: NotificationPayload) -> JSONObject {
    let told: Set<String> = [
      "appAppleId", "bundleId", "environment", "signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo",
    ]
    var details = JSONObject()
    for carrier in ["data", "summary", "externalPurchaseToken", "appData"] {
      guard let object = payload.json[carrier]?.object else { continue }
      for member in object where !told.contains(member.key) { details[member.key] = member.value }
    }
    return details
  }
}
