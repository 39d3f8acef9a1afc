@testable import Answering

@Suite struct `A request to verifyReceipt` {
  private static let now = Timestamp(1_780_000_000_000)
  private static let pki = ReceiptPKI.known(at: now)

  private func reader() throws -> ReceiptReader {
    ReceiptReader(trust: ReceiptTrust(exactly: [try Self.pki.trustedRoot()]))
  }

  private func receipt() throws -> String {
    var app = AppPlan.sample("com.example.notes")
    app.customers = 30
    app.habits = .lively
    var world = AppStoreWorld(plan: WorldPlan(apps: [app]), seed: 5, start: Self.now - .days(200))
    world.advance(by: .days(190))
    let customer = try #require(world.customers().first { !world.state(of: $0).purchases.isEmpty })
    return String(decoding: try world.state(of: customer).receipt.encoded(signedBy: Self.pki), as: UTF8.self)
  }

  /// What old clients are known to do to a receipt on its way.
  private static let damages: [(name: String, damage: @Sendable (String) -> String)] = [
    ("none", { $0 }), ("spaces for plus", { $0.replacing("+", with: " ") }),
    (
      "line breaks",
      { text in
        stride(from: 0, to: text.utf8.count, by: 76).map { String(text.dropFirst($0).prefix(76)) }
          .joined(separator: "\r\n")
      }
    ),
    ("URL-safe", { $0.replacing("+", with: "-").replacing("/", with: "_") }),
    ("percent", { $0.replacing("+", with: "%2B") }),
    ("no padding", { String($0.prefix { $0 != "=" }) }),
    ("blanks around", { " \n" + $0 + "\n" }),
  ]

  @Test(arguments: damages.indices) func `is read however old clients damage it`(place: Int) throws {
    let (whole, reader) = (try receipt(), try reader())
    let damaged = Self.damages[place].damage(whole)
    let body: JSONObject = ["receipt-data": .string(damaged), "password": "abc", "exclude-old-transactions": true]
    for encoded in [body.encoded(), [0xEF, 0xBB, 0xBF] + body.encoded()] {
      let posted = ParsedCall(encoded, reader: reader, memory: VerifiedReceiptCache())
      #expect(posted.proven != nil, "\(Self.damages[place].name)")
      #expect(posted.request.password == "abc" && posted.request.excludesOldTransactions)
      #expect(posted.text == whole, "given back as Apple writes it: \(Self.damages[place].name)")
    }
  }

  @Test func `is read once for each receipt that is proven, and says the same again`() throws {
    let (whole, memory) = (try receipt(), VerifiedReceiptCache())
    let stranger = ReceiptReader(trust: ReceiptTrust(exactly: [try ReceiptPKI.stranger(at: Self.now).trustedRoot()]))
    func posted(_ text: String, _ reader: ReceiptReader) -> ParsedCall {
      ParsedCall((["receipt-data": .string(text)] as JSONObject).encoded(), reader: reader, memory: memory)
    }
    #expect(posted(whole, stranger).proven == nil && memory.count == 0, "what nobody vouches for is not remembered")
    let first = posted(whole, try reader())
    #expect(first.proven != nil && memory.count == 1)
    // This reader would refuse it: it was not read again.
    let again = posted(whole, stranger)
    #expect(again.proven?.originalTransactionIDs == first.proven?.originalTransactionIDs)
    #expect(again.text == first.text && again.digest == first.digest)
    // Damaged, it is another text: read for itself, and never remembered.
    #expect(posted(whole.replacing("+", with: " "), stranger).proven == nil)
    #expect(posted(whole.replacing("+", with: " "), try reader()).digest == first.digest && memory.count == 1)
    #expect(posted(String(whole.dropLast(400)), try reader()).proven == nil && memory.count == 1)
  }

  @Test func `forgets receipts when others take their room`() throws {
    let (whole, reader) = (try receipt(), try reader())
    let memory = VerifiedReceiptCache(mostBytes: whole.utf8.count * 16)
    for number in 0..<40 {
      let text = whole + String(repeating: "\n", count: number)
      guard case .verified(let receipt) = reader.read(Array(whole.utf8)) else { continue }
      memory.keep(receipt, .sha256(Array(text.utf8)), bytes: whole.utf8.count)
      #expect(memory.count <= 17)
    }
    #expect(memory.count >= 8 && memory.receipt(.sha256(Array(whole.utf8))) == nil)
  }

  @Test func `may be a form`() throws {
    let (whole, reader) = (try receipt(), try reader())
    let escaped = whole.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
    for data in [whole, escaped] {
      let body = Array("receipt-data=\(data)&password=abc&exclude-old-transactions=true".utf8)
      let posted = ParsedCall(body, reader: reader, memory: VerifiedReceiptCache())
      #expect(posted.proven != nil && posted.text == whole)
      #expect(posted.request.password == "abc" && posted.request.excludesOldTransactions)
    }
  }

  @Test(arguments: [
    ("", 21_002), ("nothing", 21_002), ("[]", 21_002), ("{}", 21_002), (#"{"receipt-data":null}"#, 21_002),
    (#"{"receipt-data":17}"#, 21_002), (#"{"receipt-data":["AAAA"]}"#, 21_002), (#"{"receipt-data":""}"#, 21_002),
    (#"{"receipt-data":"AAAA"}"#, 21_002), (#"{"receipt-data":"?!"}"#, 21_002),
    (#"{"receipt-data":"eyJhbGciOiJFUzI1NiJ9.e30.AAAA"}"#, 21_002), ("password=abc&x=y", 21_002),
  ])
  func `that is none is 21002`(text: String, status: Int) throws {
    let posted = ParsedCall(Array(text.utf8), reader: try reader(), memory: VerifiedReceiptCache())
    let found = posted.findings(asked: .production)
    let row = try #require(StatusDecision().decide(found))
    #expect(row.answer == .status(Int64(status)), "\(row.id)")
  }

  @Test func `of thousands of values is none`() throws {
    let brackets = String(repeating: "[[0]],", count: 100_000)
    let hostile = Array(#"{"a":[\#(brackets)0],"receipt-data":"AAAA"}"#.utf8)
    #expect(!VerifyReceiptRequestBody(hostile).isReadable)
  }

  @Test func `with a receipt that somebody else signed is refused before anything is asked`() throws {
    let other = ReceiptReader(trust: ReceiptTrust(exactly: [try ReceiptPKI.stranger(at: Self.now).trustedRoot()]))
    let body: JSONObject = ["receipt-data": .string(try receipt())]
    let posted = ParsedCall(body.encoded(), reader: other, memory: VerifiedReceiptCache())
    #expect(posted.proven == nil && posted.bundleID == "com.example.notes")
    let row = try #require(StatusDecision().decide(posted.findings(asked: .sandbox)))
    #expect(row.answer == .status(21_003) || row.answer == .askApple(otherwise: 21_003))
  }

  @Test func `goes to the other environment by its attribute alone`() throws {
    let body: JSONObject = ["receipt-data": .string(try receipt())]
    let posted = ParsedCall(body.encoded(), reader: try reader(), memory: VerifiedReceiptCache())
    #expect(StatusDecision().decide(posted.findings(asked: .production))?.answer == .status(21_007))
    #expect(StatusDecision().decide(posted.findings(asked: .sandbox)) == nil)
  }
}
