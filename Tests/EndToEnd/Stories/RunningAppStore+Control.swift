/// The control interface of a simulated App Store, for clients that wait as long as a large world takes.
extension RunningAppStore {
  @discardableResult
  func control(
    _ client: HTTPClient, _ method: String, _ path: String, _ body: JSONObject? = nil
  ) async throws -> JSONObject {
    let answer = try await client.send(
      ClientRequest(
        method: method, url: "\(controlURL)/\(path)", body: body?.encoded() ?? [], deadline: .minutes(10),
        responseLimit: 16 << 20))
    guard answer.status == 200 else {
      throw RunningProgram.NotReady(notes: String(decoding: answer.body, as: UTF8.self))
    }
    return try JSONReader.read(answer.body).object ?? JSONObject()
  }

  /// The fault rules in force.
  func faults(_ client: HTTPClient) async throws -> [JSONObject] {
    (try await control(client, "GET", "faults")["faults"]?.array ?? []).compactMap(\.object)
  }

  /// Ends the faults that match.
  func endFaults(_ client: HTTPClient, _ isMeant: (JSONObject) -> Bool) async throws {
    for rule in try await faults(client) where isMeant(rule) {
      try await control(client, "DELETE", "faults/\(rule["number"]?.integer ?? 0)")
    }
  }
}
