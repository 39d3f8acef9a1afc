import struct Simulator.SimulatedVerifyReceiptResponse

@Suite struct `V1's forms of a customer` {
  private static let pki = ReceiptPKI.known(at: Bench.start)
  private static let reader: ReceiptReader = {
    do { return ReceiptReader(trust: ReceiptTrust(exactly: [try pki.trustedRoot()])) } catch {
      preconditionFailure("no reader: \(error)")
    }
  }()

  /// A customer with one of everything, restored once in between.
  private func everything(in environment: AppStoreEnvironment = .sandbox) throws -> (AppStoreWorld, CustomerID) {
    let app = AppPlan.sample("com.example.notes", environment: environment)
    var world = AppStoreWorld(plan: WorldPlan(apps: [app]), seed: 5, start: Bench.start)
    let customer = try world.enrol(in: "com.example.notes", environment: environment, usesStoreKit1: true)
    try world.act(.buy(product: "plus.monthly", offer: "introductory"), on: customer)
    world.advance(by: .days(20))
    try world.act(.buy(product: "coins.100"), on: customer)
    let coins = try world.act(.buy(product: "coins.1000", quantity: 2), on: customer)
    try world.act(.buy(product: "archive"), on: customer)
    try world.act(.buy(product: "season.pass"), on: customer)
    try world.act(.buy(product: "news.monthly"), on: customer)
    try world.act(.restore, on: customer)
    for id in coins { try world.act(.finish(transaction: id), on: customer) }
    world.advance(by: .hours(1))
    try world.act(.buy(product: "pro.monthly"), on: customer)
    try world.act(.buy(product: "pro.monthly", offer: "SPRING"), on: customer)
    let archive = try #require(world.transactions(of: customer).first { $0.transaction.product.id == "archive" })
    try world.act(.refund(transaction: archive.legacyTransactionID), on: customer)
    world.advance(by: .minutes(1))
    return (world, customer)
  }

  private static func keys(_ object: JSONObject) -> Set<String> { Set(object.map(\.key)) }

  private static func objects(_ value: JSONValue?) -> [JSONObject] { (value?.array ?? []).compactMap(\.object) }

  /// Every date that is told in milliseconds and in Apple's local time, anywhere in a value.
  private static func dates(in value: JSONValue) -> [(milliseconds: Int64, pacific: String)] {
    switch value {
    case .array(let values): return values.flatMap(dates)
    case .object(let object):
      var found = object.flatMap { dates(in: $0.value) }
      for member in object where member.key.hasSuffix("_pst") {
        let name = String(member.key.dropLast(4))
        let instant = (object["\(name)_ms"] ?? object["expires_date"])?.string.flatMap { Int64($0) }
        if let instant, let text = member.value.string { found.append((instant, text)) }
      }
      return found
    default: return []
    }
  }

  @Test func `tell the local time as real answers do`() throws {
    let paths =
      Samples.paths(under: "verify_receipt", ending: ".json")
      + Samples.paths(under: "notifications_v1", ending: ".json")
    var count = 0
    for path in paths {
      guard let bytes = Samples.bytes(path), let value = try? JSONReader.read(bytes) else { continue }
      for date in Self.dates(in: value) {
        #expect(PacificTime.text(Timestamp(date.milliseconds)) == date.pacific, "\(path)")
        count += 1
      }
    }
    #expect(Samples.directory == nil || count > 100)
  }

  @Test(arguments: [
    // The second Sunday of March and the first of November; the first of April and the last of October before 2007.
    (Int64(1_772_963_999_000), "2026-03-08 01:59:59"), (1_772_964_000_000, "2026-03-08 03:00:00"),
    (1_793_523_599_000, "2026-11-01 01:59:59"), (1_793_523_600_000, "2026-11-01 01:00:00"),
    (1_143_971_999_000, "2006-04-02 01:59:59"), (1_143_972_000_000, "2006-04-02 03:00:00"),
    (1_162_112_399_000, "2006-10-29 01:59:59"), (1_162_112_400_000, "2006-10-29 01:00:00"),
  ])
  func `change to daylight-saving time and back when the United States do`(instant: Int64, text: String) {
    #expect(PacificTime.text(Timestamp(instant)) == "\(text) America/Los_Angeles")
  }

  @Test func `have in every answer what real answers have, as strings where those are strings`() throws {
    let (world, customer) = try everything()
    let state = world.state(of: customer)
    let answer = try SimulatedVerifyReceiptResponse(
      about: state.receipt, of: state, requestedAt: world.now + .milliseconds(402)
    )
    .object(signedBy: Self.pki)
    #expect(answer.map(\.key).first == "environment" && answer.map(\.key).last == "status")
    let receipt = try #require(answer["receipt"]?.object)
    #expect(receipt.text("request_date_ms") == "\((world.now + .milliseconds(402)).sinceEpoch)")
    #expect(receipt.number("adam_id") == 0 && receipt.text("original_purchase_date_ms") == "1375340400000")
    for row in Self.objects(receipt["in_app"]) + Self.objects(answer["latest_receipt_info"]) {
      #expect(row.allSatisfy { $0.value.string != nil })
      #expect((row.text("expires_date") == nil) == (row.text("web_order_line_item_id") == nil))
      #expect(["true", "false"].contains(row.text("is_trial_period")))
    }
    #expect(Self.objects(receipt["in_app"]).allSatisfy { $0["subscription_group_identifier"] == nil })
    for row in Self.objects(answer["pending_renewal_info"]) { #expect(row.allSatisfy { $0.value.string != nil }) }
    guard let real = Samples.bytes("verify_receipt/revenuecat_sandbox_sampleapp.json") else { return }
    let sample = try #require(try JSONReader.read(real).object)
    #expect(Self.keys(sample).isSubset(of: Self.keys(answer)))
    #expect(Self.keys(try #require(sample["receipt"]?.object)) == Self.keys(receipt))
    for (real, place) in [
      (Self.objects(sample["receipt"]?.object?["in_app"]), receipt["in_app"]),
      (Self.objects(sample["latest_receipt_info"]), answer["latest_receipt_info"]),
    ] {
      let row = try #require(Self.objects(place).first { $0["expires_date"] != nil })
      #expect(Self.keys(try #require(real.first)).isSubset(of: Self.keys(row)))
    }
  }

  @Test func `leave out finished consumables, and say of each row what it is`() throws {
    let (world, customer) = try everything()
    let state = world.state(of: customer)
    let answer = SimulatedVerifyReceiptResponse(about: state.receipt, of: state, requestedAt: world.now).object(
      latestReceipt: [])
    let rows = Self.objects(answer["latest_receipt_info"])
    #expect(answer["latest_receipt"] == nil)
    #expect(
      rows.compactMap { $0.text("product_id") }.sorted() == [
        "archive", "coins.100", "news.monthly", "plus.monthly", "plus.monthly", "pro.monthly", "season.pass",
      ])
    let dates = rows.compactMap { ($0.text("expires_date_ms") ?? $0.text("purchase_date_ms")).flatMap { Int64($0) } }
    #expect(dates == dates.sorted(by: >))
    #expect(rows.first { $0.text("product_id") == "archive" }?.text("cancellation_reason") == "0")
    #expect(rows.filter { $0.text("is_upgraded") == "true" }.count == 1)
    #expect(rows.filter { $0.text("is_trial_period") == "true" }.count == 1)
    let pending = Self.objects(answer["pending_renewal_info"])
    #expect(pending.compactMap { $0.text("offer_code_ref_name") } == ["SPRING"])
    #expect(pending.count == 2)
    // In the order of the receipt's bytes, which is none of time.
    let sold = Self.objects(answer["receipt"]?.object?["in_app"]).map { $0.text("transaction_id") }
    guard case .app(let read)? = Self.reader.read(try state.receipt.encoded(signedBy: Self.pki)).receipt else {
      Issue.record("no receipt")
      return
    }
    #expect(sold == read.purchases.map(\.transactionID))
  }

  @Test func `trim the answer and its receipt when old transactions are not wanted`() throws {
    let (world, customer) = try everything()
    let state = world.state(of: customer)
    let answer = try SimulatedVerifyReceiptResponse(
      about: state.receipt, of: state, requestedAt: world.now + .seconds(9), excludingOldTransactions: true
    ).object(signedBy: Self.pki)
    let rows = Self.objects(answer["latest_receipt_info"])
    #expect(
      Set(rows.compactMap { $0.text("product_id") }) == ["pro.monthly", "news.monthly", "archive", "season.pass"])
    let latest = try #require(answer.text("latest_receipt"))
    guard case .verified(let verified) = Self.reader.read(Array(latest.utf8)), case .app(let read) = verified.receipt
    else {
      Issue.record("no receipt")
      return
    }
    #expect(Set(read.purchases.map(\.transactionID)) == Set(rows.compactMap { $0.text("transaction_id") }))
    #expect(verified.proof.validAt == Timestamp((world.now + .seconds(9)).wholeSeconds * 1_000))
  }

  @Test func `in Production have the app's numbers, exactly`() throws {
    let (world, customer) = try everything(in: .production)
    let state = world.state(of: customer)
    let answer = SimulatedVerifyReceiptResponse(about: state.receipt, of: state, requestedAt: world.now).object(
      latestReceipt: [])
    let receipt = try #require(answer["receipt"]?.object)
    #expect(answer.text("environment") == "Production" && receipt.text("receipt_type") == "Production")
    #expect(receipt.number("adam_id") == 1_600_000_000)
    let download = try #require(receipt.number("download_id"))
    #expect(download > 1 << 53 && Int64(Double(download)) != download)
    #expect(receipt.text("original_purchase_date_ms") == "\(Bench.start.sinceEpoch)")
  }

  @Test func `of iOS 6 are flat, and of status 21006 when nothing is paid`() throws {
    var (world, customer) = try LifelikeWorld.quiet()
    try world.act(.buy(product: "plus.monthly"), on: customer)
    let sent = try #require(world.state(of: customer).legacyPurchases.first)
    world.advance(by: .days(40))
    func answer() throws -> JSONObject {
      try TransactionReceiptAnswer(about: sent, of: world.state(of: customer)).object(
        signedBy: Self.pki.transactionSigner)
    }
    let active = try answer()
    #expect(active.number("status") == 0 && active.number("auto_renew_status") == 1)
    let latest = try #require(active["latest_receipt_info"]?.object)
    #expect(latest.text("transaction_id") != active["receipt"]?.object?.text("transaction_id"))
    #expect(
      latest.text("expires_date").flatMap { Int64($0) }
        == world.transactions(of: customer).last?.transaction.expiresDate?.sinceEpoch)
    #expect(Self.reader.read(Array(try #require(active.text("latest_receipt")).utf8)).refusal == nil)
    #expect(active["environment"] == nil)
    try world.act(.setAutoRenew(false), on: customer)
    world.advance(by: .days(40))
    let expired = try answer()
    #expect(expired.number("status") == 21_006)
    #expect(expired["latest_receipt"] == nil && expired["latest_receipt_info"] == nil)
    #expect(expired.text("expiration_intent") == "1" && expired.text("is_in_billing_retry_period") == "0")
    for (path, mine) in [("mbaasy_ios6_subscription", active), ("mbaasy_ios6_expired_21006", expired)] {
      guard let bytes = Samples.bytes("verify_receipt/\(path).json") else { continue }
      let real = try #require(try JSONReader.read(bytes).object)
      #expect(Self.keys(real).isSubset(of: Self.keys(mine)))
      let row = try #require(real["receipt"]?.object)
      #expect(Self.keys(row).isSubset(of: Self.keys(try #require(mine["receipt"]?.object))))
    }
    let coins = try world.act(.buy(product: "coins.100"), on: customer)
    let bought = try #require(world.state(of: customer).legacyPurchases.first { coins.contains($0.transactionID) })
    let plain = try TransactionReceiptAnswer(about: bought, of: world.state(of: customer)).object(
      signedBy: Self.pki.transactionSigner)
    #expect(plain.map(\.key) == ["receipt", "status"])
  }

  @Test func `of notifications have a password, a hundred rows, and Apple's words`() throws {
    var app = AppPlan.sample("com.example.notes", environment: .production)
    app.products.append(Product.subscription("daily", group: "9", every: .days(1), price: 100))
    var world = AppStoreWorld(plan: WorldPlan(apps: [app]), seed: 5, start: Bench.start)
    let customer = try world.enrol(in: "com.example.notes", environment: .production)
    try world.act(.buy(product: "daily"), on: customer)
    world.advance(by: .days(130))
    let current = try #require(world.transactions(of: customer).dropLast(3).last?.transaction)
    try world.act(.refund(transaction: current.transactionID), on: customer)
    try world.act(.setAutoRenew(false), on: customer)
    world.advance(by: .minutes(1))
    let told = world.drainNotifications().flatMap(\.v1)
    #expect(told.suffix(2).map(\.notificationType) == ["CANCEL", "DID_CHANGE_RENEWAL_STATUS"])
    let cancel = try #require(told.dropLast().last).object(latestReceipt: Array("cmVjZWlwdA==".utf8))
    #expect(cancel.text("environment") == "PROD" && cancel.text("password") == app.sharedSecret)
    #expect(cancel.text("web_order_line_item_id") == current.webOrderLineItemID)
    #expect(cancel.text("bid") == "com.example.notes" && cancel.text("auto_renew_status") == "true")
    #expect(cancel.number("original_transaction_id") == Int64(current.originalTransactionID))
    let unified = try #require(cancel["unified_receipt"]?.object)
    #expect(unified.text("environment") == "Production" && unified.number("status") == 0)
    #expect(unified.text("latest_receipt") == "cmVjZWlwdA==")
    let rows = Self.objects(unified["latest_receipt_info"])
    #expect(rows.count == 100)
    let dates = rows.compactMap { $0.text("purchase_date_ms").flatMap { Int64($0) } }
    #expect(dates == dates.sorted(by: >))
    #expect(rows.filter { $0["cancellation_date"] != nil }.map { $0.text("transaction_id") } == [current.transactionID])
    let change = try #require(told.last).object(latestReceipt: [])
    #expect(change.text("auto_renew_status") == "false" && change["auto_renew_status_change_date_pst"] != nil)
    #expect(change["cancellation_date"] == nil)
    guard let bytes = Samples.bytes("notifications_v1/seed000_DID_RENEW_2024_skeleton.json") else { return }
    let renewal = try #require(told.dropFirst().first).object(latestReceipt: [0x41])
    let real = try #require(try JSONReader.read(bytes).object)
    #expect(Self.keys(real) == Self.keys(renewal))
    #expect(Self.keys(try #require(real["unified_receipt"]?.object)) == Self.keys(unified))
  }

  @Test func `of older notifications lack what came later and have what was taken away`() throws {
    for era in [V1Era.of2018, .of2020] {
      var (world, customer) = try LifelikeWorld.quiet(era: era)
      try world.act(.buy(product: "plus.monthly"), on: customer)
      world.advance(by: .days(1))
      try world.act(.buy(product: "pro.monthly"), on: customer)
      world.advance(by: .minutes(1))
      let told = world.drainNotifications().flatMap(\.v1)
      #expect(
        told.map(\.notificationType) == ["INITIAL_BUY", "CANCEL", "INTERACTIVE_RENEWAL", "DID_CHANGE_RENEWAL_STATUS"])
      let body = try #require(told.first).object(latestReceipt: [0x41])
      #expect((body["unified_receipt"] == nil) == !era.hasUnifiedReceipt)
      #expect((body["bid"] == nil) == !era.hasBundle)
      #expect(body["original_transaction_id"] == nil && body["deprecation"] == nil)
      #expect(body["latest_receipt_info"]?.object?.text("product_id") == "plus.monthly")
      #expect(body.text("latest_receipt") == "A")
    }
  }

  @Test func `are only of seven types in the Sandbox`() throws {
    let types = Set(LifelikeWorld.year(customers: 40).told.flatMap { $0.v1.map(\.notificationType) })
    let known: Set<String> = [
      "INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "DID_RENEW", "INTERACTIVE_RENEWAL",
      "CANCEL", "REFUND",
    ]
    #expect(types.isSubset(of: known) && known.subtracting(types).isSubset(of: ["REFUND", "CANCEL"]))
  }

  @Test func `as receipts say what the truth says V1 can tell`() throws {
    let (world, _) = LifelikeWorld.year(customers: 12)
    for customer in world.customers() {
      let state = world.state(of: customer)
      let reading = Self.reader.read(try state.receipt.encoded(signedBy: Self.pki))
      guard case .verified(let verified) = reading else {
        Issue.record("\(String(describing: reading.refusal))")
        continue
      }
      let told = state.legacyTruth.filter { $0.text("kind") == "purchase" }.compactMap { $0["transaction"]?.object }
      let ids = told.compactMap { $0.text("originalTransactionId") }
      #expect(Set(verified.receipt.originalTransactionIDs) == Set(ids))
      let findings = try #require(ReceiptMapping().findings(of: verified, message: .sha256([1])))
      #expect(findings.purchases.count == told.count)
      for statement in findings.purchases {
        let fact = try #require(told.first { $0.text("transactionId") == statement.facts.text(.transactionId) })
        for (key, value) in statement.facts.json.byKey where fact[key] != nil { #expect(fact[key] == value, "\(key)") }
        #expect(statement.facts.date(.originalPurchaseDate)?.sinceEpoch == fact.number("originalPurchaseDate"))
        #expect(statement.facts.date(.revocationDate)?.sinceEpoch == fact.number("revocationDate"))
        #expect(statement.facts.date(.expiresDate)?.sinceEpoch == fact.number("expiresDate"))
      }
    }
  }
}
