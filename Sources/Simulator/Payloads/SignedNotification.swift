import JSON
package import Time

/// A notification that Apple posts, and its meaning for tests to compare.
package struct SignedNotification: Hashable, Sendable {
  /// The posted body: `{"signedPayload":"…"}`.
  package let body: [UInt8]
  package let bundleID: String
  package let notificationUUID: String
  package let notificationType: String
  package let subtype: String?
  /// `nil` without a purchase.
  package let originalTransactionID: String?
  package let transactionID: String?
  /// The signing date, by which notifications are sorted, not by arrival.
  package let signedDate: Timestamp

  private static let opening = Array(#"{"signedPayload":""#.utf8)
  private static let closing = Array(#""}"#.utf8)

  init(_ draft: NotificationDraft, jws: [UInt8]) {
    body = Self.opening + jws + Self.closing
    bundleID = draft.app.bundleID
    notificationUUID = draft.notificationUUID
    notificationType = draft.notificationType
    subtype = draft.subtype
    originalTransactionID = draft.subject?.transaction?["originalTransactionId"]?.string
    transactionID = draft.subject?.transaction?["transactionId"]?.string
    signedDate = draft.signedDate
  }

  package var signedPayload: [UInt8] { Array(body.dropFirst(Self.opening.count).dropLast(Self.closing.count)) }

  package static func body(signedPayload jws: [UInt8]) -> [UInt8] { opening + jws + closing }

  package var title: String { subtype.map { "\(notificationType)/\($0)" } ?? notificationType }
}
