import JSON
import Signing
import Simulator

/// Requests of strangers, each different: what anybody on the internet can send.
struct HostileRequests {
  /// How many kinds there are.
  static let kinds = 7
  /// The kind that calls verifyReceipt.
  static let verifyReceipt = 4
  /// The app's shared secret, as every old copy of the app carries it.
  static let secret = "0123456789abcdef0123456789abcdef"
  /// Rows of a long V1 body: nearly the largest that is taken.
  private static let longRows = 2_400

  /// A genuine notification's body, whose signature is broken anew for each forgery.
  private let genuine: [UInt8]

  init(_ samples: NotificationSamples) async throws {
    guard let body = try await samples.generate(1, from: 9_000_000, keeping: { $0.body }).first else {
      throw BenchmarkError("no notification to forge")
    }
    genuine = body
  }

  /// So many, of each kind in turn.
  func requests(_ count: Int) -> [[UInt8]] {
    (0..<count).map { number in
      switch number % Self.kinds {
      case 0: LoadGenerator.request(DurableHTTP.path, legacy(number, password: nil))
      case 1: LoadGenerator.request(DurableHTTP.path, legacy(number, password: "guess \(number)"))
      case 2: LoadGenerator.request(DurableHTTP.path, tampered(number))
      case 3: LoadGenerator.request(DurableHTTP.path, unsigned(number))
      case 5: LoadGenerator.request(DurableHTTP.path, legacy(number, password: Self.secret))
      case Self.verifyReceipt:
        LoadGenerator.request("/verifyReceipt", Array(#"{"receipt-data":"QQ\#(number)=="}"#.utf8))
      default: LoadGenerator.request("/v1/evidence", Array(#"{"transactionId":"\#(number)"}"#.utf8))
      }
    }
  }

  /// So many V1 bodies of nearly the largest size, one in ten of them with the app's secret: each costs milliseconds to read,
  /// and those of the secret thousands of rows to write.
  func long(_ count: Int) -> [[UInt8]] {
    (0..<count).map { number in
      LoadGenerator.request(
        DurableHTTP.path,
        legacy(number, password: number % 10 == 0 ? Self.secret : "guess \(number)", rows: Self.longRows))
    }
  }

  /// So many V1 notifications as Apple sends them for somebody who has subscribed for a year.
  func genuine(_ count: Int) -> [[UInt8]] {
    (0..<count).map { number in
      LoadGenerator.request(DurableHTTP.path, legacy(Self.genuineFrom + number, password: Self.secret, rows: 12))
    }
  }

  /// So many V1 bodies of nearly the largest size that the secret vouches for, of few rows, so that all is kept.
  func bulky(_ count: Int) -> [[UInt8]] {
    let padding = String(repeating: "x", count: 1_000_000)
    return (0..<count).map { number in
      var body = String(decoding: legacy(number, password: Self.secret), as: UTF8.self)
      body.replace(#""auto_renew_product_id":"monthly""#, with: #""auto_renew_product_id":"monthly","x":"\#(padding)""#)
      return LoadGenerator.request(DurableHTTP.path, Array(body.utf8))
    }
  }

  /// So many V1 notifications with the app's secret that claim purchases of one customer, 100 each.
  func about(_ victim: String, _ count: Int) -> [[UInt8]] {
    (0..<count).map { number in
      LoadGenerator.request(DurableHTTP.path, legacy(number, password: Self.secret, rows: 100, customer: victim))
    }
  }

  /// So many bodies that are refused: forged ones, and what is no JSON.
  func refused(_ count: Int) -> [[UInt8]] {
    (0..<count).map { number in
      switch number % 4 {
      case 0: LoadGenerator.request(DurableHTTP.path, Array("none \(number)".utf8))
      case 1: LoadGenerator.request(DurableHTTP.path, tampered(number))
      case 2: LoadGenerator.request(DurableHTTP.path, unsigned(number))
      default: LoadGenerator.request(DurableHTTP.path, legacy(number, password: "guess \(number)"))
      }
    }
  }

  /// So many notifications that claim to be of another app: V1 ones with its secret, and forged V2 ones.
  func of(_ app: SimulatedApp, _ count: Int) -> [[UInt8]] {
    (0..<count).map { number in
      let body = String(decoding: legacy(number, password: Self.secret), as: UTF8.self)
        .replacing(NotificationSamples.app.bundleID, with: app.bundleID)
      return LoadGenerator.request(DurableHTTP.path + (number % 2 == 0 ? "" : "/\(app.bundleID)"), Array(body.utf8))
    }
  }

  /// Above all numbers of hostile requests.
  private static let genuineFrom = 50_000_000

  /// A V1 body that names the app and a customer of its own.
  private func legacy(_ number: Int, password: String?, rows: Int = 1, customer: String? = nil) -> [UInt8] {
    let rows = (0..<rows).map { row -> JSONValue in
      .object([
        "original_transaction_id": .string(customer ?? "9\(number)"), "transaction_id": .string("9\(number)1\(row)"),
        "web_order_line_item_id": .string("8\(number)1\(row)"), "product_id": "monthly",
        "purchase_date_ms": "1772323200000", "expires_date_ms": "1775001600000",
        // What is shown of a purchase and of its event is to be as long as it can be.
        "promotional_offer_id": .string(customer == nil ? "" : String(repeating: "x", count: 200)),
      ])
    }
    var body: JSONObject = [
      "notification_type": "DID_RENEW", "environment": "Sandbox", "bid": .string(NotificationSamples.app.bundleID),
      "auto_renew_product_id": "monthly",
      "unified_receipt": .object(["environment": "Sandbox", "status": 0, "latest_receipt_info": .array(rows)]),
    ]
    if customer != nil {
      for number in 0..<64 { body["detail_\(number)"] = .string(String(repeating: "y", count: 255)) }
    }
    if let password { body["password"] = .string(password) }
    return body.encoded()
  }

  /// A genuine body with other letters near its end, in the signature.
  private func tampered(_ number: Int) -> [UInt8] {
    var (body, rest) = (genuine, number)
    for place in 0..<6 {
      body[body.count - 12 - place] = UInt8(ascii: "A") + UInt8(rest % 26)
      rest /= 26
    }
    return body
  }

  /// A JWS without a chain that names an environment of its own.
  private func unsigned(_ number: Int) -> [UInt8] {
    let payload = #"{"environment":"Moon","notificationType":"TEST","n":\#(number)}"#
    let parts = [#"{"alg":"ES256","x5c":[]}"#, payload, "signature"].map {
      String(decoding: Base64.url.encode(Array($0.utf8)), as: UTF8.self)
    }
    return (["signedPayload": .string(parts.joined(separator: "."))] as JSONObject).encoded()
  }
}
