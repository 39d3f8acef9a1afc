/// The largest bodies that are taken, in bytes; whatever is longer is answered with 413.
extension NotificationRoute {
  /// Apple's have some 20,000.
  static let bodyLimit = 1 << 20
}

extension VerifyReceiptRoute {
  /// Apple's own: receipts of many years reach megabytes.
  static let bodyLimit = 3_145_728
}

extension SubmissionRoute {
  /// What the adapter reads: an answer of many years reaches megabytes.
  static let bodyLimit = 8 << 20
}
