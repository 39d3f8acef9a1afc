import Purchases

/// What the status of a verifyReceipt answer means, and how V1 tells V2's status of a subscription: `v1-statuses.tsv`.
public struct VerifyReceiptStatusTable: Sendable {
  /// Whether asking again can help.
  public enum Retry: String, Sendable, CaseIterable {
    case yes, no
    /// `is_retryable` in the answer says so.
    case told
  }

  public struct Answer: Sendable {
    public let id: String
    public let codes: ClosedRange<Int64>
    /// Whether the answer holds purchases.
    public let holdsData: Bool
    public let retry: Retry
    public let meaning: String
    /// What to do about it.
    public let action: String
  }

  /// What V1 says of a subscription that has a status of V2.
  public enum Condition: String, Sendable, CaseIterable {
    case cancelled, runs, inGracePeriod, retries, ended
  }

  public struct Subscription: Sendable {
    public let id: String
    public let status: Int64
    public let condition: Condition
  }

  public let answers: [Answer]
  public let subscriptions: [Subscription]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(
      bytes, columns: ["id", "kind", "code", "data", "retryable", "condition", "meaning", "action"])
    var answers: [Answer] = []
    var subscriptions: [Subscription] = []
    for row in table.rows {
      guard let codes = Self.codes(row["code"]) else { throw .unknownWord(row: row.id, column: "code") }
      switch row["kind"] {
      case "verifyReceipt":
        guard let retry = Retry(rawValue: row["retryable"]) else {
          throw .unknownWord(row: row.id, column: "retryable")
        }
        guard ["yes", "no"].contains(row["data"]) else { throw .unknownWord(row: row.id, column: "data") }
        guard !answers.contains(where: { $0.codes.overlaps(codes) }) else { throw .repeatedRow(row.id) }
        answers.append(
          Answer(
            id: row.id, codes: codes, holdsData: row["data"] == "yes", retry: retry, meaning: row["meaning"],
            action: row["action"]))
      case "subscription":
        guard let condition = Condition(rawValue: row["condition"]) else {
          throw .unknownWord(row: row.id, column: "condition")
        }
        guard !subscriptions.contains(where: { $0.status == codes.lowerBound }) else { throw .repeatedRow(row.id) }
        subscriptions.append(Subscription(id: row.id, status: codes.lowerBound, condition: condition))
      default: throw .unknownWord(row: row.id, column: "kind")
      }
    }
    self.answers = answers
    self.subscriptions = subscriptions
  }

  /// The row of an answer's status; nil for one that Apple does not document.
  public subscript(status: Int64) -> Answer? { answers.first { $0.codes.contains(status) } }

  /// The row of V2's status for what V1 says.
  public subscript(condition: Condition) -> Subscription? { subscriptions.first { $0.condition == condition } }

  /// `21002`, or `21100-21199`.
  private static func codes(_ text: String) -> ClosedRange<Int64>? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
    guard let first = parts[0], parts.count <= 2, let last = parts[parts.count - 1], first <= last else { return nil }
    return first...last
  }
}
