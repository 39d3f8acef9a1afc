import HTTPClient
import JSON
import Mappings

/// What the deprecated verifyReceipt is asked.
public struct ReceiptRequest: Sendable {
  /// Base64, as the client sent it.
  public var receiptData: String
  /// The app's shared secret; needed for receipts with subscriptions.
  public var password: String?
  public var excludeOldTransactions: Bool

  public init(receiptData: String, password: String? = nil, excludeOldTransactions: Bool = false) {
    self.receiptData = receiptData
    self.password = password
    self.excludeOldTransactions = excludeOldTransactions
  }

  var json: JSONObject {
    var json: JSONObject = ["receipt-data": .string(receiptData)]
    json["password"] = password.map(JSONValue.string)
    if excludeOldTransactions { json["exclude-old-transactions"] = true }
    return json
  }
}

extension AppStoreClient {
  /// Asks verifyReceipt, in the other environment when Apple says so (21007, 21008), again when it says that (21005,
  /// 21009, 211xx, `is_retryable`).
  ///
  /// Every status is an answer; only no answer is a failure. `app` is whose budget it counts for.
  package func verifyReceipt(
    _ receipt: ReceiptRequest, app: String, along route: EnvironmentSearch = EnvironmentSearch(),
    _ priority: RateLimiter.Priority = .interactive
  ) async throws(APIError) -> ReceiptAnswer {
    guard let first = route.current else {
      throw APIError(.invalidCall, .verifyReceipt, "no environment is left to ask")
    }
    let answer = try await verifyReceipt(receipt, app: app, in: first, priority)
    // Once: two servers that send each other's receipts away would be asked for ever.
    return answer.belongsElsewhere ? try await verifyReceipt(receipt, app: app, in: first.other, priority) : answer
  }

  private func verifyReceipt(
    _ receipt: ReceiptRequest, app: String, in environment: APIEnvironment, _ priority: RateLimiter.Priority
  ) async throws(APIError) -> ReceiptAnswer {
    let key = RateLimitKey(app: app, endpoint: .verifyReceipt, environment: environment)
    let request = request(
      receiptURL(environment), .verifyReceipt, [("Content-Type", "application/json")], receipt.json.encoded())
    let last = LastAnswer()
    do throws(APIError) {
      return try await repeating(key, priority) { () throws(APIError) in
        try await self.attempt(request, .verifyReceipt, environment) { reading, response throws(APIError) in
          guard response.status == 200 else { throw reading.failure(response) }
          let answer = ReceiptAnswer(
            json: try reading.object(response), body: response.body, environment: environment,
            receivedAt: reading.now)
          guard !answer.asksAgain else {
            last.answer = answer
            throw reading.failure(.serverFailed, response, "status \(answer.status ?? 0)")
          }
          return answer
        }
      } attempts: { answer, _ in
        answer
      }
    } catch {
      // Apple's own words, when it has not found better ones within the policy's time.
      if let answer = last.answer, error.code != .cancelled { return answer }
      throw error
    }
  }
}

/// The latest answer that asked to be asked again; confined to one call.
private final class LastAnswer {
  var answer: ReceiptAnswer?
}
