@testable import Adapter

/// An id that no fact is made of would leave a row that seems to be another purchase's.
@Suite struct `An id that is longer than any of Apple's` {
  private static let ids = [
    "transaction_id", "original_transaction_id", "web_order_line_item_id", "product_id", "app_account_token",
  ]
  private let adapter = MessageDecoder(verifier: SignedDataVerifier(roots: .apple))

  private func read(_ adapter: MessageDecoder, _ name: String, _ length: Int) throws(MessageError) -> Findings {
    let row = Bench.row("1000", 0, 30, [name: .string(String(repeating: "7", count: length))])
    let body = Bench.v1("DID_RENEW", [Bench.row("1001", 30, 60), row]).encoded()
    return try adapter.notification(
      body, message: .sha256(body),
      origin: V1Context(app: Bench.app, environment: nil, trust: .sharedSecret, receivedAt: Bench.now),
      now: Bench.now
    ).findings
  }

  @Test(arguments: ids, [256, 1_024, 1_025, 100_000])
  func `is refused, however long`(name: String, length: Int) {
    let refused = #expect(throws: MessageError.self) { try read(adapter, name, length) }
    #expect(refused?.code == MessageError.Code.valueTooLong.rawValue)
    let answer: JSONObject = [
      "status": 0, "environment": "Sandbox", "receipt": ["bundle_id": .string(Bench.app), "in_app": []],
      "latest_receipt_info": [
        .object(Bench.row("1000", 0, 30, [name: .string(String(repeating: "7", count: length))]))
      ],
    ]
    let answered = #expect(throws: MessageError.self) {
      try adapter.answer(
        answer.encoded(), app: Bench.app, environment: nil, message: .sha256([]), now: Bench.now)
    }
    #expect(answered?.code == MessageError.Code.valueTooLong.rawValue)
  }
}
