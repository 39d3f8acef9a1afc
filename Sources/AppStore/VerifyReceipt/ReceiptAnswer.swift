public import JSON
package import Mappings
public import Time

/// What verifyReceipt answered, whatever its status.
public struct ReceiptAnswer: Sendable {
  public let json: JSONObject
  /// As Apple gave it.
  public let body: [UInt8]
  /// Whose server answered at last: where the receipt belongs.
  public let environment: APIEnvironment
  public let receivedAt: Timestamp

  package init(json: JSONObject, body: [UInt8], environment: APIEnvironment, receivedAt: Timestamp) {
    self.json = json
    self.body = body
    self.environment = environment
    self.receivedAt = receivedAt
  }

  /// 0 when the receipt is valid; nil when Apple left it out.
  public var status: Int64? { json["status"]?.integer }

  /// What is known of the status; nil for one that Apple does not document.
  package var row: VerifyReceiptStatusTable.Answer? { status.flatMap { Vocabulary.embedded.legacyStatuses[$0] } }

  /// Whether Apple says that asking again may help; under both names that were documented, and as all types seen.
  public var isRetryable: Bool? {
    let value = json["is_retryable"] ?? json["is-retryable"]
    return value?.bool ?? value?.integer.map { $0 != 0 } ?? value?.string.map { ["1", "true"].contains($0) }
  }

  /// Whether the same receipt should be sent again: what Apple says, else what the status means.
  public var asksAgain: Bool {
    switch row?.retry {
    // 21002 says so of a passing failure alone; without a word of Apple's it is a malformed receipt, and stays one.
    case .yes, .told: isRetryable ?? (status != 21_002)
    case .no, nil: false
    }
  }

  /// Whether the receipt belongs to the other environment.
  public var belongsElsewhere: Bool { status == 21_007 || status == 21_008 }
}
