@Suite(.enabled(if: Samples.directory != nil, "no ../shared/samples beside the project"))
struct `Real V1 data` {
  private static let adapter = MessageDecoder(verifier: SignedDataVerifier(roots: .apple))

  private func notification(_ name: String) throws -> DecodedMessage {
    let body = try #require(Samples.bytes("notifications_v1/\(name).json"))
    return try Self.adapter.notification(
      body, message: .sha256(body),
      origin: V1Context(app: nil, environment: nil, trust: .sharedSecret, receivedAt: Bench.now), now: Bench.now)
  }

  private func evidence(_ path: String, app: String, in environment: Environment? = nil) throws -> DecodedMessage {
    let body = try #require(Samples.bytes(path))
    return try Self.adapter.evidence(body, app: app, environment: environment, message: .sha256(body), now: Bench.now)
  }

  @Test func `a first purchase of 2020, with objects of iOS 6 beside the unified receipt`() throws {
    let reading = try notification("educreations_INITIAL_BUY")
    #expect(reading.survey.isClean, "\(reading.survey)")
    #expect(reading.app == "com.educreations.ios.Educreations" && reading.environment == .production)
    #expect(reading.trust == .sharedSecret && reading.title == "V1 INITIAL_BUY")
    let statement = try #require(reading.findings.purchases.first)
    #expect(reading.findings.purchases.count == 1)
    #expect(statement.source == .notificationV1)
    #expect(statement.facts.date(.expiresDate) == Timestamp(1_595_808_159_000))
    #expect(statement.facts.text(.subscriptionGroupIdentifier) == "00000000")
    #expect(statement.facts.text(.type) == "Auto-Renewable Subscription" && statement.facts.isInferred(.type))
    let event = try #require(reading.findings.events.first)
    #expect(event.notificationType == "SUBSCRIBED" && event.subtype == "INITIAL_BUY" && event.rule == "V-001")
    #expect(event.date == Timestamp(1_593_216_159_000))
    #expect(reading.findings.renewals.first?.facts.integer(.autoRenewStatus) == 1)
    #expect(reading.findings.seeds.map(\.transactionID) == ["000000000000000"])
  }

  @Test func `a renewal that failed, told by an object of iOS 6 alone`() throws {
    let reading = try notification("educreations_DID_FAIL_TO_RENEW")
    let statement = try #require(reading.findings.purchases.first)
    #expect(statement.key.originalTransactionID == "70000762954330")
    #expect(statement.facts.date(.expiresDate) == Timestamp(1_599_527_817_000))
    #expect(statement.rank.asOf == Timestamp(1_599_527_817_000))
    let event = try #require(reading.findings.events.first)
    #expect(event.notificationType == "DID_FAIL_TO_RENEW" && event.subtype == nil && event.rule == "V-021")
    #expect(event.date == Timestamp(1_599_527_817_000))
    let renewal = try #require(reading.findings.renewals.first)
    #expect(renewal.facts.integer(.autoRenewStatus) == 1 && renewal.key.originalTransactionID == "70000762954330")
  }

  @Test func `54 restored periods and an end of the customer's own will`() throws {
    let reading = try notification("imdhemy_server_notification_DID_CHANGE_RENEWAL_STATUS")
    #expect(reading.survey.isClean, "\(reading.survey)")
    #expect(reading.findings.purchases.count == 54)
    #expect(Set(reading.findings.purchases.map(\.key.originalTransactionID)) == ["1000000723811158"])
    #expect(Set(reading.findings.purchases.map(\.key.line)).count == 54)
    #expect(Set(reading.findings.purchases.map(\.rank.asOf)) == [Timestamp(1_606_293_062_000)])
    #expect(
      reading.findings.events.map { "\($0.notificationType)/\($0.subtype ?? "")" } == [
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY",
      ])
    #expect(reading.findings.events.map(\.date.sinceEpoch) == [1_606_293_002_000, 1_606_293_062_000])
    #expect(Set(reading.findings.events.map { $0.line?.text }) == ["1000000057713932"])
    #expect(reading.findings.renewals.first?.facts.integer(.expirationIntent) == 1)
  }

  @Test func `a renewal of 2024, with a number for an id`() throws {
    let reading = try notification("seed000_DID_RENEW_2024_skeleton")
    #expect(reading.survey.isClean, "\(reading.survey)")
    #expect(reading.app == "com.xxxx" && reading.environment == .sandbox)
    let event = try #require(reading.findings.events.first)
    #expect(event.notificationType == "DID_RENEW" && event.rule == "V-022")
    #expect(event.originalTransactionID == "2000000000000001" && event.transactionID == "2000000000000002")
    #expect(event.date == Timestamp(1_705_289_149_000))
    #expect(event.details["original_transaction_id"] == 2_000_000_000_000_001)
  }

  @Test(
    arguments: [
      ("mbaasy_unified", "com.mbaasy.ios.demo", 35, 1_448_129_867_409, Environment.sandbox),
      ("revenuecat_sandbox_sampleapp", "com.revenuecat.sampleapp", 9, 1_595_440_486_402, .sandbox),
      ("nov_valid_application", "com.tekkinnovations.fars", 2, 1_385_477_349_878, .sandbox),
      ("mbaasy_ios6_subscription", "com.mbaasy.ios.demo", 1, 1_447_821_281_000, .production),
      ("mbaasy_ios6_expired_21006", "com.mbaasy.ios.demo", 1, 1_448_346_881_000, .production),
    ] as [(String, String, Int, Int64, Environment)])
  func `an answer`(name: String, app: String, purchases: Int, asOf: Int64, environment: Environment) throws {
    let isFlat = name.contains("ios6")
    let reading = try evidence("verify_receipt/\(name).json", app: app, in: isFlat ? .production : nil)
    #expect(reading.survey.isClean, "\(reading.survey)")
    let told = reading.findings.purchases.filter { $0.source == .verifyReceiptAnswer }
    #expect(told.count == purchases && reading.environment == environment)
    #expect(Set(told.map(\.rank.asOf)) == [Timestamp(asOf)])
    #expect(reading.findings.events.isEmpty)
    let ids = Set(told.map(\.key.originalTransactionID))
    #expect(Set(reading.findings.seeds.map(\.transactionID)) == ids)
    // Handed in, it joins no more than its receipt proves. The rest is claimed.
    var together = CustomerLabels()
    for link in reading.findings.links + reading.findings.claimedLinks { together.join(link.a, link.b) }
    var labels: Set<CustomerNode> = []
    for id in ids { labels.insert(together.label(of: .originalTransactionID(id))) }
    #expect(labels.count == 1)
    // Two rows of one purchase under two ids: both find it.
    if isFlat {
      #expect(
        Set(reading.findings.aliases.filter { $0.kind == .transactionID }.map(\.id)).isSuperset(of: [
          "1000000181298734", "1000000180703127",
        ]))
    }
  }

  @Test(
    arguments: [
      ("error_21007", "S-009"), ("error_21009", "S-011"), ("error_21104_retryable", "S-013"), ("nov_invalid", "S-004"),
    ])
  func `an error says what it means and what to do`(name: String, rule: String) throws {
    do {
      _ = try evidence("verify_receipt/\(name).json", app: "com.example")
      Issue.record("taken")
    } catch let error as MessageError {
      #expect(error.code == MessageError.Code.verifyReceiptStatus.rawValue && error.kind == .legacy)
      #expect(error.detail.contains("(\(rule))") && error.detail.contains(";"))
    }
  }

  /// Each receipt of a pair was sent, and the answer came: on every fact both state they agree.
  @Test(
    arguments: [
      ("revenuecat_sandbox_sampleapp.b64", "revenuecat_sandbox_sampleapp", "com.revenuecat.sampleapp"),
      ("mbaasy_unified_sandbox_2015.b64", "mbaasy_unified", "com.mbaasy.ios.demo"),
      ("ios6_mbaasy_yearly_2015.b64", "mbaasy_ios6_subscription", "com.mbaasy.ios.demo"),
    ])
  func `a receipt and its answer agree`(receipt: String, answer: String, app: String) throws {
    let environment: Environment? = receipt.hasPrefix("ios6") ? .sandbox : nil
    let proven = try evidence("receipts/\(receipt)", app: app, in: environment)
    // The signature of a receipt of iOS 6 covers no environment: somebody's word decides of which it is.
    #expect(proven.trust == (environment == nil ? .receipt : .none))
    let answered = try evidence("verify_receipt/\(answer).json", app: app, in: environment)
    var compared = 0
    for statement in proven.findings.purchases {
      let other = try #require(
        answered.findings.purchases.first { $0.source == .verifyReceiptAnswer && $0.key == statement.key })
      for (field, value) in statement.facts.known where field != .transactionId {
        guard let told = other.facts[field], !other.facts.isInferred(field) else { continue }
        compared += 1
        #expect(told == value, "\(field) of \(statement.key)")
      }
      if let type = statement.facts.text(.type), other.facts[.type] != nil {
        #expect(other.facts.text(.type) == type)
      }
      let ids = Set(answered.findings.aliases.map(\.id))
      let id = try #require(statement.facts.text(.transactionId))
      #expect(ids.contains(id))
    }
    #expect(compared >= 5 * proven.findings.purchases.count)
  }

  /// Receipts of real apps, proven or not, give exactly the ids that are in them; Xcode's and empty ones are refused.
  @Test func `every receipt gives its ids, or the reason why not`() throws {
    let bytes = try #require(Samples.bytes("receipts/expected.json"))
    let expected = try #require(JSONReader.read(bytes).array)
    var read = 0
    for sample in expected.compactMap(\.object) {
      let file = try #require(sample["file"]?.string)
      let app = try #require(sample["bundle_id"]?.string)
      let ids = Set((sample["original_transaction_ids"]?.array ?? []).compactMap(\.string)).subtracting(["0", ""])
      let isXcode = sample["receipt_type"]?.string == "Xcode"
      do {
        let reading = try evidence("receipts/\(file)", app: app, in: file.hasPrefix("ios6") ? .sandbox : nil)
        #expect(Set(reading.findings.seeds.map(\.transactionID)) == ids && !ids.isEmpty && !isXcode, "\(file)")
        read += 1
      } catch let error as MessageError {
        #expect(ids.isEmpty || isXcode, "\(file): \(error)")
        #expect(["xcodeReceipt", "missingIdentity"].contains(error.code), "\(file): \(error)")
      }
    }
    #expect(read >= 7)
  }
}
