import HTTPClient
import JSON
import Time

/// A client of the simulated App Store's public controls, over HTTP.
final class StoryAppStore {
  struct Telling {
    let app: String
    /// The V2 type, for both generations.
    let title: String
    /// 1 or 2.
    let version: Int64
    /// Apple's name of the result, such as `SUCCESS` or `NO_RESPONSE`.
    let result: String
    let date: Timestamp
    /// The number of the attempt, from 1.
    let attempt: Int
  }

  struct Refused: Error, CustomStringConvertible {
    let order: String
    let answer: String

    var description: String { "the simulated App Store refused \(order): \(answer)" }
  }

  private let url: String
  private let client: HTTPClient
  private var seen: [Int] = []

  init(controlURL: String, client: HTTPClient) {
    url = controlURL
    self.client = client
  }

  /// Adds a customer of Production; returns the ID for the controls.
  func enrol(in app: String, usesStoreKit1: Bool) async throws -> String {
    let customer = try await order(
      "POST", "customers",
      ["bundleId": .string(app), "environment": "Production", "usesStoreKit1": .bool(usesStoreKit1)])
    return customer["customer"]?.string ?? ""
  }

  /// Performs an act on a customer; returns the IDs of its new transactions.
  @discardableResult
  func act(_ act: String, _ customer: String, _ values: JSONObject = [:]) async throws -> [String] {
    var body = values
    body["act"] = .string(act)
    body["customer"] = .string(customer)
    return (try await order("POST", "act", body)["transactions"]?.array ?? []).compactMap(\.string)
  }

  /// Advances time; returns after all due notifications were posted.
  func advance(minutes: Int64) async throws {
    _ = try await order("POST", "advance", ["milliseconds": .integer(minutes * 60_000)])
  }

  func send(_ app: String, to url: String, version: Int64) async throws {
    _ = try await order(
      "PUT", "destinations",
      ["bundleId": .string(app), "environment": "Production", "url": .string(url), "version": .integer(version)])
  }

  func lose(_ notificationType: String) async throws {
    _ = try await order(
      "POST", "faults", ["fault": "dropped", "on": "notifications", "operation": .string(notificationType)])
  }

  func closeVerifyReceipt() async throws {
    _ = try await order("POST", "faults", ["fault": "serverError", "on": "verifyReceipt", "times": .null])
  }

  /// Returns the customer's device receipt in base64.
  func receipt(of customer: String) async throws -> String {
    String(decoding: try await send("GET", "customers/\(customer)/receipt", nil), as: UTF8.self)
  }

  func truth() async throws -> [JSONObject] {
    let lines = try await send("GET", "truth", nil).split(separator: 0x0A)
    return try lines.compactMap { try JSONReader.read(Array($0)).object }
  }

  /// Returns the attempts since the last call, in the order of the notifications.
  func tellings() async throws -> [Telling] {
    let list = try await order("GET", "notifications?limit=1000", nil)["notifications"]?.array ?? []
    var tellings: [Telling] = []
    for (number, notification) in list.compactMap(\.object).enumerated() {
      let attempts = notification["attempts"]?.array ?? []
      if number == seen.count { seen.append(0) }
      let title = [notification["notificationType"]?.string, notification["subtype"]?.string].compactMap(\.self)
      for attempt in seen[number]..<attempts.count {
        let made = attempts[attempt].object
        tellings.append(
          Telling(
            app: notification["bundleId"]?.string ?? "", title: title.joined(separator: "/"),
            version: notification["version"]?.integer ?? 0,
            result: made?["sendAttemptResult"]?.string ?? "",
            date: Timestamp(made?["attemptDate"]?.integer ?? 0), attempt: attempt + 1))
      }
      seen[number] = attempts.count
    }
    return tellings
  }

  private func order(_ method: String, _ path: String, _ body: JSONObject?) async throws -> JSONObject {
    try JSONReader.read(try await send(method, path, body)).object ?? [:]
  }

  private func send(_ method: String, _ path: String, _ body: JSONObject?) async throws -> [UInt8] {
    var request = ClientRequest(
      method: method, url: "\(url)/\(path)", deadline: .minutes(1), responseLimit: 1 << 24)
    if let body {
      request.body = body.encoded()
      request.headers = [("Content-Type", "application/json")]
    }
    let response = try await client.send(request)
    guard response.status == 200 else {
      throw Refused(order: path, answer: String(decoding: response.body.prefix(500), as: UTF8.self))
    }
    return response.body
  }
}
