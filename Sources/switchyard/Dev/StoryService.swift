import HTTPClient
import JSON

struct StoryService: Sendable {
  let url: String
  let tokens: [String: String]
  let client: HTTPClient

  func notificationsURL(_ app: String) -> String { "\(url)/notifications/\(app)" }

  /// Posts a body; returns the response's result, such as `stored` or `quarantined`.
  func post(_ body: [UInt8], of app: String) async throws -> String {
    let answer = try await send(ClientRequest(method: "POST", url: notificationsURL(app), body: body))
    return answer.body["status"]?.string ?? "refused"
  }

  /// Posts a receipt like an old client of the app.
  ///
  /// - Parameter base: of another verifyReceipt than Switchyard's.
  /// - Returns: The response and its source, from the header `Switchyard-Answered-By`.
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

  /// Returns the data for an ID; `nil` if unknown.
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
