/// What old clients send damaged, as it comes over HTTP.
@Suite struct `A damaged request` {
  private typealias Damage = @Sendable (_ receipt: String, _ secret: String) -> [UInt8]

  private static func json(_ receipt: String, _ secret: String) -> String {
    #"{"receipt-data":"\#(receipt)","password":"\#(secret)"}"#
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("%", with: "%25").replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
  }

  private static let damages: [(name: String, body: Damage)] = [
    ("as it is", { Array(json($0, $1).utf8) }),
    ("a byte order mark", { [0xEF, 0xBB, 0xBF] + Array(json($0, $1).utf8) }),
    ("spaces for plus", { Array(json($0.replacing("+", with: " "), $1).utf8) }),
    ("the URL-safe alphabet", { Array(json($0.replacing("+", with: "-").replacing("/", with: "_"), $1).utf8) }),
    ("no padding", { Array(json($0.replacing("=", with: ""), $1).utf8) }),
    ("escaped slashes", { Array(json($0.replacing("/", with: #"\/"#), $1).utf8) }),
    ("percent escapes", { Array(json(escaped($0), $1).utf8) }),
    (
      "line breaks",
      { receipt, secret in
        var lines = ""
        for (place, letter) in receipt.enumerated() { lines += (place % 76 == 75 ? #"\r\n"# : "") + String(letter) }
        return Array(json(lines, secret).utf8)
      }
    ),
    ("a form", { Array("receipt-data=\(escaped($0))&password=\($1)".utf8) }),
    ("a form that was not escaped", { Array("password=\($1)&receipt-data=\($0)".utf8) }),
    (
      "a flag as text, and members that nobody knows",
      { Array(#"{"x":[1],"exclude-old-transactions":"no","receipt-data":"\#($0)","password":"\#($1)"}"#.utf8) }
    ),
  ]

  @Test func `is answered as the one that was meant`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first { !world.state(of: $0).subscriptions.isEmpty })
    try await AnsweringService.with(world, stage: "complete") { service in
      let receipt = try service.receipt(of: buyer)
      try #require(receipt.contains("+") && receipt.contains("/"))
      let plain = try await service.ask(AnsweringService.request(receipt))
      #expect(plain.code == 0)
      for (name, body) in Self.damages {
        let answer = try await service.post(
          body(receipt, AnsweringService.secret), to: service.base + "/sandbox/verifyReceipt")
        #expect(
          answer.status == 200 && answer.type == "application/json" && answer.code == 0, "\(name): \(answer.code ?? -1)"
        )
        for member in ["latest_receipt", "latest_receipt_info", "pending_renewal_info"] {
          #expect(answer.body[member] == plain.body[member], "\(name): \(member)")
        }
      }
    }
  }
}
