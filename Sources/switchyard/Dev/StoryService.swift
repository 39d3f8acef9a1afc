import HTTPClient
import JSON

/// Switchyard as a story meets it: from outside, over HTTP.
struct StoryService: Sendable {
  let url: String
  /// By bundle id.
  let tokens: [String: String]
  let client: HTTPClient

  /// Where Apple posts an app's notifications.
  func notificationsURL(_ app: String) -> String { "\(url)/notifications/\(app)" }

  /// `stored`, `quarantined`, …, as it answered.
  func post(_ body: [UInt8], of app: String) async throws -> String {
    let answer = try await send(ClientRequest(method: "POST", url: notificationsURL(app), body: body))
    return answer.body["status"]?.string ?? "refused"
  }

  /// What an old client of the app does with its receipt.
  ///
  /// - Parameter base: of another one than Switchyard's verifyReceipt.
  /// - Returns: The answer and who gave it, by the header `Switchyard-Answered-By`.
  func verifyReceipt(
    _ receipt: String, password: String, at base: String? = nil
  ) async throws -> (body: JSONObject, source: String) {
    let body: JSONObject = ["receipt-data": .string(receipt), "password": .string(password)]
    let answer = try await send(
      ClientRequest(method: "POST", url: "\(base ?? url)/verifyReceipt", body: body.encoded()))
    return (answer.body, answer.source)
  }

  func handIn(_ evidence: [UInt8], of app: String) async throws -> (status: Int, body: JSONObject) {
    let answer = try await send(ClientRequest(method: "POST", url: "\(url)/v1/evidence", body: evidence), of: app)
    return (answer.status, answer.body)
  }

  /// What is known under an id; nil when nothing is.
  func purchases(_ id: String, of app: String) async throws -> JSONObject? {
    let answer = try await send(ClientRequest(url: "\(url)/v1/apps/\(app)/purchases/\(id)"), of: app)
    return answer.body["results"]?.array?.first?.object
  }

  private func send(
    _ request: ClientRequest, of app: String? = nil
  ) async throws -> (status: Int, body: JSONObject, source: String) {
    var request = request
    if let app { request.headers.append(("Authorization", "Bearer \(tokens[app] ?? "")")) }
    let response = try await client.send(request)
    return (
      response.status, (try? JSONReader.read(response.body).object) ?? [:],
      response.headers["Switchyard-Answered-By"] ?? ""
    )
  }
}
