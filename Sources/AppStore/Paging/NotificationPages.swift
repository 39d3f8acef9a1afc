package import Signing
package import Wire

/// A notification of the history: proven or not, and how its sending went.
package struct NotificationItem: Sendable {
  package let signedPayload: String
  package let outcome: Result<VerifiedNotification, VerificationError>
  package let sendAttempts: [SendAttemptItem]

  package init(signedPayload: String, sendAttempts: [SendAttemptItem], verifiedBy verifier: ItemVerifier) {
    self.signedPayload = signedPayload
    self.sendAttempts = sendAttempts
    outcome = verifier.notification(signedPayload)
  }

  /// What it says; nil when it is not proven.
  package var notification: NotificationPayload? {
    if case .success(let verified) = outcome { NotificationPayload(verified.notification.payload) } else { nil }
  }
}

/// The pages of Get Notification History.
package struct NotificationPages: PageSource {
  package let request: NotificationHistoryRequest

  package init(_ request: NotificationHistoryRequest) { self.request = request }

  package func call(after cursor: String?) -> APIRequest<NotificationHistoryResponse> {
    .notificationHistory(request, paginationToken: cursor)
  }

  package func cursor(of answer: NotificationHistoryResponse) -> (next: String?, hasMore: Bool) {
    (answer.paginationToken, answer.hasMore ?? false)
  }

  package func items(of answer: NotificationHistoryResponse, _ verifying: ItemVerifier) -> [NotificationItem] {
    (answer.notificationHistory ?? []).map {
      NotificationItem(
        signedPayload: $0.signedPayload ?? "", sendAttempts: $0.sendAttempts ?? [], verifiedBy: verifying)
    }
  }

  package func identity(of item: NotificationItem) -> String? { item.notification?.notificationUUID }
}
