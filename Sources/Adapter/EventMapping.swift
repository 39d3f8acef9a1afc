import JSON
import Mappings
import Purchases
import Signing
import Time
import Wire

/// Turns a V2 notification into an event, by `events.tsv`.
struct EventMapping {
  let vocabulary: Vocabulary
  let message: Digest

  /// The event; nil when the notification names no type at all.
  func event(
    _ verified: VerifiedNotification, purchase: PurchaseStatement?, in environment: Environment
  ) throws(Refusal) -> Event? {
    let payload = NotificationPayload(verified.notification.payload)
    guard let type = payload.notificationType else { return nil }
    guard let signedAt = verified.notification.signedAt else {
      throw Refusal(
        .authentic, .missingSignedDate, "a notification without signedDate", claimedApp: verified.bundleID)
    }
    let row = vocabulary.events[type, payload.subtype]
    return Event(
      app: verified.bundleID, environment: environment, notificationUUID: payload.notificationUUID,
      notificationType: type, subtype: payload.subtype,
      originalTransactionID: purchase?.key.originalTransactionID ?? renewed(verified),
      transactionID: purchase?.facts.text(.transactionId), line: purchase?.key.line,
      date: moment(row?.moment ?? .signed, purchase?.facts) ?? signedAt, source: .signedV2,
      rank: Rank(asOf: signedAt, tieBreak: Array(message.bytes.prefix(16))), details: details(payload),
      message: message.bytes, rule: row?.id)
  }

  private func renewed(_ verified: VerifiedNotification) -> String? {
    verified.renewal.flatMap { RenewalPayload($0.payload).originalTransactionId }
  }

  private func moment(_ moment: EventTable.Moment, _ facts: Facts<PurchaseField>?) -> Milliseconds? {
    switch moment {
    case .purchase: facts?.date(.purchaseDate)
    case .expiry: facts?.date(.expiresDate)
    case .revocation: facts?.date(.revocationDate)
    case .signed: nil
    }
  }

  /// What the envelope says beside whose it is and the signed payloads inside it.
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
