@testable import Adapter
@testable import Intake

/// What is decided about a notification is decided about what is kept of it: a replay and a rebuild have nothing else.
@Suite struct `A received notification` {
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"
  private static let now = Milliseconds(1_767_600_000_000)
  private let key = MasterKey.generate()
  private let secrets = SecretFilter([Array(secret.utf8)])

  private func received(_ text: String) -> ReceivedNotification {
    ReceivedNotification(Array(text.utf8), key: key, secrets: secrets, receivedAt: Self.now)
  }

  private static func jws(_ payload: String) -> String {
    let header = String(decoding: Base64.url.encode(Array(#"{"alg":"ES256"}"#.utf8)), as: UTF8.self)
    return "\(header).\(String(decoding: Base64.url.encode(Array(payload.utf8)), as: UTF8.self)).AAAA"
  }

  private static let bodies = [
    #"{"signedPayload":"\#(jws("{}"))"}"#, #"{"signedPayload":"\#(jws("{}"))","password":"\#(secret)"}"#,
    #"{"signedPayload":"\#(jws("{}"))","x":"\#(secret)","\#(secret)":1}"#,
    #"{"notification_type":"X","bid":"b","password":"\#(secret)"}"#,
    // A secret as a name, beside the marker that would stand in its place.
    #"{"notification_type":"X","password":"\#(secret)","\#(secret)":1,"[redacted]":2,"[redacted] 2":3}"#,
    // A secret that is JSON between two texts.
    #"{"notification_type":"X","bid":"b","environment":"PROD","x:":1,"y":0,"password":":1,"}"#,
    #"{"notification_type":"X","a":":\"abc","password":"abc"}"#,
    // Longer with a code than a body may be.
    #"{"notification_type":"X","password":"\#(secret)","x":""# + String(repeating: "z", count: 1_048_500) + #""}"#,
    #"{"notification_type":"X","password":"a","x":["# + Array(repeating: #""a""#, count: 20_000).joined(separator: ",")
      + "]}",
    // Longer than a body may be once it is written anew.
    #"{"signedPayload":"\#(jws(#"{"password":"\#(secret)"}"#))"# + String(repeating: #"\n"#, count: 200_000)
      + #"","x":1}"#,
    // Written anew and not read again, as it is no longer than what came.
    #"{"notification_type":"X","bid":"b","password":"\#(secret)","x":["#
      + Array(repeating: #"{"password":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},1.50e3,"\u0041é\/""#, count: 20).joined(
        separator: ",")
      + "]}",
    "none", #"{"a":"\#(secret)"}"#,
  ]

  @Test(arguments: bodies)
  func `is decided on as it is kept`(text: String) throws {
    let notification = received(text)
    // Codes make a body longer than one that comes; what escapes make longer still is refused as what comes is.
    let isLong = notification.body.legacyNotification != nil
    let kept = isLong ? ReceivedBody(kept: notification.message.body) : ReceivedBody(notification.message.body)
    #expect("\(notification.body.told)" == "\(kept.told)")
    #expect(notification.body.bytes == notification.message.body)
    #expect(MessageIdentity(ofNotification: kept).bytes == MessageIdentity(ofNotification: notification.body).bytes)
    // What is left of a secret is in a signed payload, which is searched where nothing vouches for it.
    let hasPayload = if case .success(.notificationV2) = kept.told { true } else { false }
    if !hasPayload, case .success = kept.told {
      #expect(kept.bytes.firstRange(of: Array(Self.secret.utf8)) == nil)
    }
  }

  @Test(arguments: [
    ("offer_code_ref_name", RenewalField.offerIdentifier), ("promotional_offer_id", .offerIdentifier),
    ("auto_renew_product_id", .autoRenewProductId),
  ])
  func `teaches no text that is far longer than any of Apple's`(name: String, field: RenewalField) throws {
    func facts(_ letters: Int) throws -> Facts<RenewalField> {
      let text = String(repeating: #"\n"#, count: letters)
      let reading = try read(#""environment":"Sandbox""#, #""\#(name)":"\#(text)""#)
      return try #require(reading.findings.renewals.first).facts
    }
    #expect(try facts(1_024)[field]?.string?.utf8.count == 1_024)
    #expect(try facts(1_025)[field] == nil && facts(200_000)[field] == nil)
  }

  @Test func `tells of an event without the members that a stranger added by the thousand`() throws {
    let many = (0..<60_000).map { #""m\#($0)":1"# }.joined(separator: ",")
    let long = #""\#(String(repeating: "n", count: 65))":1,"auto_renew_status":"true""#
    let events = try [#""environment":"Sandbox",\#(many)"#, #""environment":"Sandbox",\#(long)"#].map {
      try #require(read($0, #""x":"y""#).findings.events.first)
    }
    #expect(events[0].details.count == 64)
    #expect(events[1].details.map(\.key) == ["notification_type", "auto_renew_status"])
  }

  private func read(_ top: String, _ renewal: String) throws -> Reading {
    let body = """
      {"notification_type":"DID_RENEW","bid":"com.example.a","unified_receipt":{
      "environment":"Sandbox","status":0,"latest_receipt_info":[{"product_id":"p","transaction_id":"2",
      "original_transaction_id":"1","web_order_line_item_id":"3","purchase_date_ms":"1767500000000",
      "expires_date_ms":"1767700000000","quantity":"1"}],"pending_renewal_info":[{"original_transaction_id":"1",
      "product_id":"p","auto_renew_status":"1",\(renewal)}]},\(top)}
      """
    return try Adapter(verifier: SignedDataVerifier(roots: .apple)).notification(
      Array(body.utf8), message: .sha256([]),
      origin: LegacyOrigin(app: "com.example.a", environment: nil, trust: .sharedSecret, receivedAt: Self.now),
      now: Self.now)
  }
}
