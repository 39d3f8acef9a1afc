import JSON
import Simulator

/// The end of the story: Inkwell goes live, and its old clients get responses without Apple's verifyReceipt.
extension StoryTale {
  /// The members that differ between any two responses: the data that only Apple can sign, and the request date.
  private static let own = Set(["latest_receipt", "request_date", "request_date_ms", "request_date_pst"])

  /// - Parameters:
  ///   - customer: of Inkwell, with auto-renewal off.
  ///   - apple: the base of the simulated App Store's own verifyReceipt.
  func goLive(with customer: String, beside apple: String, _ operated: StoryOperator, key: DeveloperKey) async throws {
    let app = DemoRunner.inkwell
    try await operated.register(key, of: app)
    add(app, "Inkwell's API key is registered; Switchyard asks Apple for its customers' histories", "", nil, "asked")
    try await operated.goLive(app)
    add(app, "Inkwell goes live: rollout set com.example.inkwell live --force", "", nil, "from here on")

    let receipt = try await appStore.receipt(of: customer)
    let password = secrets[app] ?? ""
    let theirs = try await service.verifyReceipt(receipt, password: password, at: apple).body
    var ours: (body: JSONObject, source: String) = ([:], "")
    let isOurs = try await comesTrue {
      ours = try await service.verifyReceipt(receipt, password: password)
      return ours.source == "ledger"
    }
    add(app, "Anna's old client has its receipt verified again", "verifyReceipt", nil, "answered by the \(ours.source)")
    checks.expect(
      isOurs && ours.body["status"] == 0 && Self.plain(ours.body) == Self.plain(theirs),
      "In live Anna's old client is answered out of the ledger, in every field as by Apple")

    try await appStore.closeVerifyReceipt()
    add(app, "Apple's verifyReceipt is switched off", "", nil, "from here on")
    try await appStore.act("setAutoRenew", customer, ["on": true])
    try await scene("Anna resumes auto-renewal", app)
    let knowsNews = try await comesTrue {
      ours = try await service.verifyReceipt(receipt, password: password)
      let renewal = ours.body["pending_renewal_info"]?.array?.first?.object
      return ours.source == "ledger" && renewal?["auto_renew_status"] == "1"
    }
    add(app, "Anna's old client asks once more", "verifyReceipt", nil, "answered by the \(ours.source)")
    checks.expect(
      knowsNews && ours.body["status"] == 0,
      "Without Apple's verifyReceipt it still is, and shows that she resumed auto-renewal")
  }

  private static func plain(_ answer: JSONObject) -> JSONValue {
    func plain(_ value: JSONValue) -> JSONValue {
      switch value {
      case .object(let object):
        .object(
          JSONObject(
            uniqueMembers: object.filter { !own.contains($0.key) }.sorted { $0.key < $1.key }.map {
              JSONObject.Member(key: $0.key, value: plain($0.value))
            }))
      case .array(let values): .array(values.map(plain))
      case .null, .bool, .integer, .number, .string: value
      }
    }
    return plain(.object(answer))
  }
}
