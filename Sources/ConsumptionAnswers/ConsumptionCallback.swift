import HTTPClient
import JSON
import Ledger
import Purchases
import Signing
import Time

/// The question to an app's back end how a purchase was used, and whether Apple may know.
struct ConsumptionCallback {
  let request: ConsumptionRequestRecord
  let app: App
  let url: String
  /// What the back end knows us by; nil when it was not given any.
  let token: [UInt8]?

  private static let answerLimit = 64 << 10

  /// The same for every repeat of the question.
  var webhookID: String {
    let name = "\(request.message.hex)\n\(request.scope.environment.rawValue)\nconsumption"
    return "msg_" + Digest.sha256(Array(name.utf8)).hex.prefix(32)
  }

  private var body: JSONObject {
    [
      "type": "CONSUMPTION_REQUEST", "id": .string(request.id), "bundleId": .string(app.bundleID),
      "environment": .string(request.scope.environment.rawValue),
      "transactionId": request.transactionID.map { .string($0) } ?? .null,
      "originalTransactionId": request.originalTransactionID.map { .string($0) } ?? .null,
      "consumptionRequestReason": request.customerReason.map { .string($0) } ?? .null,
      "requestedAt": .integer(request.askedAt.sinceEpoch), "deadline": .integer(request.deadline.sinceEpoch),
    ]
  }

  func request(within deadline: Interval) -> ClientRequest {
    var headers = [(name: "Content-Type", value: "application/json"), (name: "webhook-id", value: webhookID)]
    if let token {
      headers.append((name: "Authorization", value: "Bearer \(String(decoding: token, as: UTF8.self))"))
    }
    return ClientRequest(
      method: "POST", url: url, headers: headers, body: body.encoded(), deadline: deadline,
      responseLimit: Self.answerLimit)
  }
}
