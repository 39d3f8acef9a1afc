package import JSON
package import Mappings
package import Time

/// What verifyReceipt answered, whatever its status.
package struct ReceiptAnswer: Sendable {
  package let json: JSONObject
  /// As Apple gave it.
  package let body: [UInt8]
  /// Whose server answered at last: where the receipt belongs.
  package let environment: APIEnvironment
  package let receivedAt: Milliseconds

  package init(json: JSONObject, body: [UInt8], environment: APIEnvironment, receivedAt: Milliseconds) {
    self.json = json
    self.body = body
    self.environment = environment
    self.receivedAt = receivedAt
  }

  /// 0 when the receipt is valid; nil when Apple left it out.
  package var status: Int64? { json["status"]?.integer }

  /// What is known of a status that is not 0; nil for one that Apple does not document.
  package var row: ReceiptStatusTable.Row? { status.flatMap { Vocabulary.embedded.receiptStatuses[$0] } }

  /// Whether Apple says that asking again may help; under both names that were documented, and as all types seen.
  package var isRetryable: Bool? {
    let value = json["is_retryable"] ?? json["is-retryable"]
    return value?.bool ?? value?.integer.map { $0 != 0 } ?? value?.string.map { ["1", "true"].contains($0) }
  }

  /// Whether the same receipt should be sent again.
  package var asksAgain: Bool {
    switch row?.retry {
    case .yes: isRetryable ?? true
    case .ifTold: isRetryable ?? false
    case .no, .route, .answer, nil: false
    }
  }

  /// The environment that the receipt belongs to instead, as 21007 and 21008 say.
  package var belongsElsewhere: Bool { row?.retry == .route }
}
