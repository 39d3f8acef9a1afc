import Purchases

extension MessageError {
  /// Apple's ids have at most 36 bytes.
  private static let idLimit = 64
  private static let nameLimit = 255

  /// Rejects an account's name that is longer than the ledger's index allows.
  static func checkLength(ofUserID userID: String?, app: String) throws(MessageError) {
    guard let userID, userID.utf8.count > nameLimit else { return }
    throw MessageError(
      .authentic, .valueTooLong, "userId has \(userID.utf8.count) bytes, at most \(nameLimit) are taken",
      claimedApp: app)
  }

  /// Rejects a V1 message with an ID that is too long to be a fact, because without it the row would be another
  /// purchase's.
  ///
  /// Only for new messages. Earlier builds accepted such messages, and a rebuild must read them again.
  static func checkLength(of id: LongID?, app: String) throws(MessageError) {
    guard let id else { return }
    throw MessageError(
      .authentic, .valueTooLong, "\(id.name) has \(id.bytes) bytes, none of Apple's is as long",
      claimedApp: String(app.prefix(nameLimit)))
  }

  /// Rejects IDs and names that are longer than any of Apple's, because truncation would make them another's.
  static func checkLengths(_ findings: Findings) throws(MessageError) {
    func check(_ what: @autoclosure () -> String, _ value: String?, _ limit: Int = idLimit) throws(MessageError) {
      guard let value, value.utf8.count > limit else { return }
      throw MessageError(
        .authentic, .valueTooLong, "\(what()) has \(value.utf8.count) bytes, at most \(limit) are taken",
        claimedApp: String(findings.app.prefix(nameLimit)))
    }
    try check("bundleId", findings.app, nameLimit)
    for statement in findings.purchases {
      try check("originalTransactionId", statement.key.originalTransactionID)
      try check("webOrderLineItemId", statement.key.line.text)
      try check("productId", statement.facts.text(.productId), nameLimit)
    }
    for statement in findings.renewals { try check("originalTransactionId", statement.key.originalTransactionID) }
    for statement in findings.appTransactions { try check("appTransactionId", statement.key.appTransactionID) }
    for alias in findings.aliases { try check(alias.kind.name, alias.id) }
    for attribution in findings.userIDs { try check("userId", attribution.value, nameLimit) }
    for waiting in findings.waitingUserIDs { try check("userId", waiting.userID, nameLimit) }
    for seed in findings.seeds { try check("transactionId", seed.transactionID) }
    for event in findings.events {
      try check("notificationType", event.notificationType)
      try check("subtype", event.subtype)
      try check("notificationUUID", event.notificationUUID)
      try check("originalTransactionId", event.originalTransactionID)
    }
  }
}
