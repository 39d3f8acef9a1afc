/// The largest accepted bodies, in bytes; longer ones get 413.
extension NotificationRoute {
  /// Apple's notifications have some 20,000.
  static let bodyLimit = 1 << 20
}

extension VerifyReceiptRoute {
  /// Apple's own limit: receipts of many years reach megabytes.
  static let bodyLimit = 3_145_728
}

extension SubmissionRoute {
  /// The adapter's limit: a response of many years reaches megabytes.
  static let bodyLimit = 8 << 20
}
