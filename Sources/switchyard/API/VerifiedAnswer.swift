import AppStore
import JSON
import Runtime
import Signing
import Time
import Wire

/// Apple's response in which each verified JWS is replaced by its payload.
struct VerifiedAnswer {
  private(set) var json: JSONObject = [:]
  /// The number of signed texts, without nested ones.
  private(set) var count = 0
  private(set) var refusals: [VerificationError] = []
  private let verifying: ItemVerifier

  init(_ answer: JSONObject, _ verifying: ItemVerifier) {
    self.verifying = verifying
    json = opened(answer)
  }

  private mutating func opened(_ object: JSONObject) -> JSONObject {
    JSONObject(
      uniqueMembers: object.members.map { member in
        JSONObject.Member(key: member.key, value: opened(member.value, as: member.key))
      })
  }

  private mutating func opened(_ value: JSONValue, as name: String) -> JSONValue {
    switch value {
    case .object(let object): return .object(opened(object))
    case .array(let values): return .array(values.map { opened($0, as: name) })
    case .string(let jws): return said(by: jws, as: name).map { proven($0) } ?? value
    case .null, .bool, .integer, .number: return value
    }
  }

  private mutating func proven(_ outcome: Result<JSONObject, VerificationError>) -> JSONValue {
    count += 1
    switch outcome {
    case .success(let payload):
      // Nested texts were verified with it.
      let (before, refused) = (count, refusals)
      defer { (count, refusals) = (before, refused) }
      return .object(opened(payload))
    case .failure(let error):
      refusals.append(error)
      return .object(["error": ["code": .string(error.code.rawValue), "detail": .string(error.detail)]])
    }
  }

  /// Returns `nil` for a member that is not signed.
  private func said(by jws: String, as name: String) -> Result<JSONObject, VerificationError>? {
    switch name {
    case "signedTransactions", "signedTransactionInfo": verifying.transaction(jws).outcome.map(\.payload)
    case "signedRenewalInfo": verifying.renewal(jws).outcome.map(\.payload)
    case "signedAppTransactionInfo": verifying.appTransaction(jws).outcome.map(\.payload)
    case "signedPayload": verifying.notification(jws).map(\.notification.payload)
    default: nil
    }
  }
}

/// Prints responses: as JSON each on arrival, for people as one table at the end.
struct ShownAnswers {
  private(set) var count = 0
  private var refused = 0
  private var tables: [(AnswerColumns, TextTable)] = []
  private let wantsJSON: Bool
  private let terminal: Terminal

  init(_ wantsJSON: Bool, _ terminal: Terminal) { (self.wantsJSON, self.terminal) = (wantsJSON, terminal) }

  mutating func add(_ answer: VerifiedAnswer) throws {
    for refusal in answer.refusals { terminal.note("REFUSED \(refusal)") }
    (count, refused) = (count + answer.count, refused + answer.refusals.count)
    if wantsJSON { return try terminal.write(answer.json) }
    for columns in AnswerColumns.allCases {
      guard let rows = columns.rows(of: answer.json) else { continue }
      var table = tables.first?.1 ?? TextTable(columns.titles.map { TextTable.Column($0) })
      for row in rows where row["error"] == nil { table.add(columns.cells(row)) }
      tables = [(columns, table)]
      return
    }
    for member in answer.json { try terminal.write("\(MemberText.line(member))\n") }
  }

  func finish() throws -> ExitStatus {
    for (_, table) in tables { try terminal.write(table.render(for: terminal)) }
    if refused > 0 { terminal.note("\(refused) of \(count) could not be proven") }
    return refused == 0 ? .done : refused == count ? .failed : .doneWithRejects
  }
}

enum MemberText {
  static func line(_ member: JSONObject.Member) -> String {
    let key = String(decoding: JSONValue.string(member.key).encoded(), as: UTF8.self)
    let name = key == "\"\(member.key)\"" ? member.key : key
    if case .integer(let number) = member.value, member.key.hasSuffix("Date") {
      return "\(name): \(number) (\(Timestamp(number).iso8601))"
    }
    return "\(name): \(String(decoding: member.value.encoded(), as: UTF8.self))"
  }
}

private enum AnswerColumns: CaseIterable {
  case notifications, subscriptions, transactions, attempts

  /// Returns the rows of a response; `nil` without rows of this kind.
  func rows(of answer: JSONObject) -> [JSONObject]? {
    switch self {
    case .notifications: answer["notificationHistory"]?.array?.compactMap(\.object)
    case .subscriptions:
      answer["data"]?.array?.flatMap { group in
        (group.object?["lastTransactions"]?.array ?? []).compactMap { last in
          var row = last.object
          row?["group"] = group.object?["subscriptionGroupIdentifier"]
          return row
        }
      }
    case .transactions:
      (answer["signedTransactions"]?.array ?? answer["signedTransactionInfo"].map { [$0] })?.compactMap(\.object)
    case .attempts: answer["sendAttempts"]?.array?.compactMap(\.object)
    }
  }

  private typealias Path = (title: String, path: [String])

  private var columns: [Path] {
    switch self {
    case .notifications:
      [
        ("SIGNED", ["signedPayload", "signedDate"]), ("TYPE", ["signedPayload", "notificationType"]),
        ("SUBTYPE", ["signedPayload", "subtype"]), ("UUID", ["signedPayload", "notificationUUID"]),
        ("ATTEMPTS", ["sendAttempts", "count"]), ("LAST RESULT", ["sendAttempts", "sendAttemptResult"]),
      ]
    case .subscriptions:
      [
        ("GROUP", ["group"]), ("ORIGINAL", ["originalTransactionId"]), ("STATUS", ["status"]),
        ("PRODUCT", ["signedTransactionInfo", "productId"]), ("EXPIRES", ["signedTransactionInfo", "expiresDate"]),
        ("RENEWS", ["signedRenewalInfo", "autoRenewStatus"]),
        ("NEXT PRODUCT", ["signedRenewalInfo", "autoRenewProductId"]),
      ]
    case .transactions:
      [
        ("TRANSACTION", ["transactionId"]), ("ORIGINAL", ["originalTransactionId"]), ("PRODUCT", ["productId"]),
        ("PURCHASED", ["purchaseDate"]), ("EXPIRES", ["expiresDate"]), ("REVOKED", ["revocationDate"]),
        ("OWNERSHIP", ["inAppOwnershipType"]),
      ]
    case .attempts: [("ATTEMPT", ["attemptDate"]), ("RESULT", ["sendAttemptResult"])]
    }
  }

  var titles: [String] { columns.map(\.title) }

  func cells(_ row: JSONObject) -> [String] { columns.map { Self.cell(row, $0.path) } }

  /// Returns the value at the end of a path; for a list its last element, or the count.
  private static func cell(_ row: JSONObject, _ path: [String]) -> String {
    var value: JSONValue? = .object(row)
    for name in path {
      if let list = value?.array {
        value = name == "count" ? .integer(Int64(list.count)) : list.last?.object?[name]
      } else {
        value = value?.object?[name]
      }
    }
    guard let last = path.last, let value else { return "" }
    if last == "status", let status = value.integer { return statuses[status] ?? "\(status)" }
    if last.hasSuffix("Date"), let date = value.milliseconds { return date.iso8601 }
    return value.looseText ?? ""
  }

  private static let statuses: [Int64: String] = [
    1: "active", 2: "expired", 3: "billing retry", 4: "grace period", 5: "revoked",
  ]
}
