public import Wire

extension APIRequest<SendTestNotificationResponse> {
  /// Request a Test Notification: Apple sends TEST to the app's URL of this environment.
  public static func testNotification() -> Self {
    Self(.requestTestNotification, read: { SendTestNotificationResponse($0) })
  }
}

extension APIRequest<CheckTestNotificationResponse> {
  /// Get Test Notification Status: whether the test arrived, and why not.
  public static func testNotificationStatus(_ testNotificationToken: String) -> Self {
    Self(
      .getTestNotificationStatus, path: ["testNotificationToken": testNotificationToken],
      read: { CheckTestNotificationResponse($0) })
  }
}

extension APIRequest<NotificationHistoryResponse> {
  /// Get Notification History, a page of it; `NotificationPages` walks through all of them.
  public static func notificationHistory(_ request: NotificationHistoryRequest, paginationToken: String? = nil) -> Self
  {
    Self(
      .getNotificationHistory, query: paginationToken.map { [("paginationToken", $0)] } ?? [],
      body: .json(request.json), read: { NotificationHistoryResponse($0) })
  }
}
