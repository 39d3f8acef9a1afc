/// The real answers beside the repository, key by key against the simulator's about an equivalent customer.
@Suite struct `The simulated verifyReceipt and Apple's` {
  /// Every key with the type of its value and its form, rows of an array taken together.
  private static func shape(_ value: JSONValue, at path: String = "", into shape: inout [String: String]) {
    switch value {
    case .object(let object):
      shape[path] = "object"
      for member in object { Self.shape(member.value, at: "\(path)/\(member.key)", into: &shape) }
    case .array(let elements):
      shape[path] = "array"
      for element in elements { Self.shape(element, at: path + "[]", into: &shape) }
    case .string(let text): shape[path] = form(text)
    case .integer: shape[path] = "integer"
    case .bool: shape[path] = "boolean"
    case .number, .null: shape[path] = "other"
    }
  }

  private static func form(_ text: String) -> String {
    if text == "true" || text == "false" { return "boolean as text" }
    if text.hasSuffix(" Etc/GMT") || text.hasSuffix(" America/Los_Angeles") {
      return text.map { $0.isNumber ? "9" : String($0) }.joined()
    }
    return !text.isEmpty && text.allSatisfy(\.isNumber) ? "digits" : "text"
  }

  /// Where they differ: what only one has, and what has another type or form.
  ///
  /// - Parameter newer: what Apple has added to its answers since the sample was taken, by the beginning of the key.
  private func differences(_ sample: String, _ ours: JSONObject, newer: [String] = []) throws -> [String]? {
    guard let bytes = Samples.bytes("verify_receipt/\(sample).json") else { return nil }
    var (real, simulated): ([String: String], [String: String]) = ([:], [:])
    Self.shape(try JSONReader.read(bytes), into: &real)
    Self.shape(.object(ours), into: &simulated)
    let added = simulated.filter { key, _ in
      let isNewer = key.split(separator: "/").contains { part in newer.contains { part.hasPrefix($0) } }
      return real[key] == nil && !isNewer
    }
    return real.filter { key, form in simulated[key] != form }.map { "\($0.key): \($0.value)" }.sorted()
      + added.map { "only simulated \($0.key): \($0.value)" }.sorted()
  }

  /// A consumable, a trial, and renewals of it: what both unified samples have.
  private func unified(_ house: House) async throws -> JSONObject {
    try await house.act("buy", ["productId": "coins.100"])
    try await house.act("buy", ["productId": "plus.monthly", "offer": "introductory"])
    try await house.advance(days: 50)
    try await house.act("setAutoRenew", ["on": false])
    try await house.advance(days: 40)
    return try await house.verifyReceipt(house.receipt())
  }

  /// Account tokens came in 2021, ownership late in 2020, what is renewed and introductory offers in 2017. (The subscription
  /// in the sample of 2020 still runs; why one ended is in real answers of that year, spec 1.3.)
  private static let since2020 = [
    "in_app_ownership_type", "app_account_token", "expiration_intent", "is_in_billing_retry_period",
  ]
  private static let since2015 =
    since2020 + ["pending_renewal_info", "is_in_intro_offer_period", "subscription_group_identifier"]
  /// The last two are in real answers of this shape, and not in each of them (spec 1.4).
  private static let flatSince2015 =
    since2015 + ["auto_renew_status", "auto_renew_product_id", "is_trial_period", "version_external_identifier"]

  @Test(arguments: [("mbaasy_unified", since2015), ("revenuecat_sandbox_sampleapp", since2020)])
  func `have the same keys, types and forms about an app receipt`(sample: String, newer: [String]) async throws {
    try await House.with(House.quiet()) { house in
      let found = try differences(sample, try await unified(house), newer: newer)
      #expect(found ?? [] == [])
    }
  }

  @Test func `have the same keys, types and forms about a receipt of one transaction`() async throws {
    try await House.with(House.quiet()) { house in
      let id = try await house.act("buy", ["productId": "plus.yearly"])[0]
      let receipt = try await house.receipt("?transactionId=\(id)")
      let active = try differences(
        "mbaasy_ios6_subscription", try await house.verifyReceipt(receipt), newer: Self.flatSince2015)
      #expect(active ?? [] == [])
      try await house.act("setAutoRenew", ["on": false])
      try await house.advance(days: 400)
      let ended = try differences(
        "mbaasy_ios6_expired_21006", try await house.verifyReceipt(receipt), newer: Self.flatSince2015)
      #expect(ended ?? [] == [])
    }
  }

  @Test(arguments: [("error_21007", Int64(21_007)), ("error_21009", 21_009), ("error_21104_retryable", 21_104)])
  func `have the same keys and types about what is wrong`(sample: String, status: Int64) async throws {
    try await House.with(House.quiet(environment: .production)) { house in
      try await house.fault(["fault": "status", "on": "verifyReceipt", "value": .integer(status)])
      let answer = try await house.verifyReceipt("x", environment: .production)
      #expect(try differences(sample, answer) ?? [] == [])
    }
  }
}
