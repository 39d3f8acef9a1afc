import Adapter
import JSON
import Purchases
import Signing
import Simulator
import Time

/// From the bytes of the old generation to findings, on one core: no signature, so parsing is the ceiling.
///
/// 100 different notifications of 20 rows, and 20 different answers of 200 rows, without a receipt inside, through
/// `MessageDecoder.notification` and `MessageDecoder.answer`, beside `JSONReader.read` alone of the same bytes. 40 rounds of each in
/// turns; medians of the thread's time.
enum MapLegacy {
  static let benchmark = Benchmark(
    name: "v1.map", summary: "V1 bodies from their bytes to what they teach, on one core"
  ) { settings in
    let adapter = MessageDecoder(verifier: SignedDataVerifier(roots: .apple))
    let now = NotificationSamples.start + .days(500)
    let origin = V1Context(app: nil, environment: nil, trust: .sharedSecret, receivedAt: now)
    let notifications = (0..<100).map { LegacySamples.notification(customer: $0, rows: 20) }
    let answers = (0..<20).map { LegacySamples.answer(customer: $0, rows: 200) }
    let rounds = Rounds(count: 40)
    let (mapped, parsed) = try rounds.medians(
      {
        for body in notifications {
          let findings = try adapter.notification(body, message: .sha256(body), origin: origin, now: now).findings
          guard findings.purchases.count == 20, findings.events.count == 1 else {
            throw BenchmarkError("a notification was not understood")
          }
        }
      }, { for body in notifications { _ = try JSONReader.read(body) } })
    let (answered, read) = try rounds.medians(
      {
        for body in answers {
          let reading = try adapter.answer(body, app: nil, environment: nil, message: .sha256(body), now: now)
          guard reading.findings.purchases.count == 200 else { throw BenchmarkError("an answer was not understood") }
        }
      }, { for body in answers { _ = try JSONReader.read(body) } })
    return [
      measurement("v1.map.notification-20", mapped, parsed, notifications, settings),
      measurement("v1.map.answer-200", answered, read, answers, settings),
    ]
  }

  private static func measurement(
    _ name: String, _ ours: Double, _ ceiling: Double, _ bodies: [[UInt8]], _ settings: Benchmark.Settings
  ) -> Measurement {
    let count = Double(bodies.count)
    let size = bodies.reduce(0) { $0 + $1.count } / bodies.count
    let texts = [ours, ceiling].map { Figure.text($0 / count / 1_000) }
    settings.note("  \(name): \(size) bytes; \(texts[0]) us, JSON alone \(texts[1]) us")
    return Measurement(
      name: name, value: count / ours * 1e9, unit: "bodies/s", against: count / ceiling * 1e9,
      peer: "reading the JSON alone", target: .atLeast(0.25))
  }
}

/// Bodies of the old generation, each of another customer.
enum LegacySamples {
  static let secret = "0123456789abcdef0123456789abcdef"

  /// Of the renewal after so many others: all its rows but the newest were told before.
  static func notification(customer: Int, rows: Int, renewal: Int = 0) -> [UInt8] {
    let unified: JSONObject = [
      "status": 0, "environment": "Production", "latest_receipt_info": .array(list(customer, rows, after: renewal)),
      "pending_renewal_info": .array([.object(intention(customer))]),
    ]
    let body: JSONObject = [
      "notification_type": "DID_RENEW", "password": .string(secret), "environment": "PROD",
      "bid": .string(NotificationSamples.app.bundleID), "bvrs": "214", "auto_renew_product_id": "pro.monthly",
      "auto_renew_status": "true", "original_transaction_id": .integer(original(customer)),
      "unified_receipt": .object(unified),
    ]
    return body.encoded()
  }

  static func answer(customer: Int, rows: Int) -> [UInt8] {
    let receipt: JSONObject = [
      "receipt_type": "Production", "bundle_id": .string(NotificationSamples.app.bundleID),
      "request_date_ms": .string(String(NotificationSamples.start.sinceEpoch)), "in_app": .array([]),
    ]
    let answer: JSONObject = [
      "environment": "Production", "receipt": .object(receipt),
      "latest_receipt_info": .array(list(customer, rows, after: 0)),
      "pending_renewal_info": .array([.object(intention(customer))]), "status": 0,
    ]
    return answer.encoded()
  }

  private static func original(_ customer: Int) -> Int64 { 430_000_000_000_000 + Int64(customer) * 1_000 }

  private static func intention(_ customer: Int) -> JSONObject {
    [
      "product_id": "pro.monthly", "original_transaction_id": .string(String(original(customer))),
      "auto_renew_product_id": "pro.monthly", "auto_renew_status": "1",
    ]
  }

  /// Newest first, as Apple sends them.
  private static func list(_ customer: Int, _ count: Int, after renewals: Int) -> [JSONValue] {
    (0..<count).map { back in
      // Counted from the newest of the first notification.
      let place = back - renewals
      let start = NotificationSamples.start - .days(30 * Int64(place))
      var row: JSONObject = [
        "quantity": "1", "product_id": "pro.monthly",
        "transaction_id": .string(String(original(customer) + Int64(count - 1 - place))),
        "original_transaction_id": .string(String(original(customer))), "is_trial_period": "false",
        "is_in_intro_offer_period": "false", "in_app_ownership_type": "PURCHASED",
        "subscription_group_identifier": "20881467",
        "web_order_line_item_id": .string(String(430_000_500_000_000 + Int64(customer * 1_000 + 500 + place))),
      ]
      add("purchase_date", start, to: &row)
      add("original_purchase_date", NotificationSamples.start - .days(30 * Int64(count)), to: &row)
      add("expires_date", start + .days(30), to: &row)
      return .object(row)
    }
  }

  private static func add(_ name: String, _ date: Timestamp, to row: inout JSONObject) {
    let text = date.iso8601.dropLast().split(separator: "T").joined(separator: " ")
    row[name] = .string("\(text) Etc/GMT")
    row["\(name)_ms"] = .string(String(date.sinceEpoch))
    row["\(name)_pst"] = .string("\(text) America/Los_Angeles")
  }
}
