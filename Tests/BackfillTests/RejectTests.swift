import Backfill
import JSON
import Receipts
import Signing
import Simulator
import Testing

@Suite struct `A row` {
  /// What clients and tables do to a receipt: what becomes of it; nil is usable all the same.
  static let damages: [(name: String, reason: String?, damage: @Sendable (String) -> String)] = [
    ("spaces for +", nil, { $0.replacing("+", with: " ") }),
    ("percent escapes", nil, { $0.replacing("+", with: "%2B").replacing("=", with: "%3D") }),
    ("url-safe", nil, { $0.replacing("+", with: "-").replacing("/", with: "_") }),
    ("no padding", nil, { $0.replacing("=", with: "") }),
    ("quotes", nil, { "\"\"\"\($0)\"\"\"" }),
    ("double base64", nil, { String(decoding: Base64.standard.encode(Array($0.utf8)), as: UTF8.self) }),
    ("cut", "truncated", { String($0.prefix($0.utf8.count / 8 * 4)) }),
    ("empty", "empty", { _ in "" }),
    ("a word", "notBase64", { _ in "n/a!" }),
    ("something else", "notAReceipt", { _ in "aGVsbG8gd29ybGQ=" }),
    ("a JWS", "jwsGiven", { _ in "eyJhbGciOiJFUzI1NiJ9.eyJ0cmFuc2FjdGlvbklkIjoiMSJ9.AAAA" }),
    ("altered", "badSignature", { Self.altered($0) }),
  ]

  private static func altered(_ text: String) -> String {
    guard var bytes = Base64.standard.decode(Array(text.utf8)),
      let place = bytes.firstRange(of: Array("com.example.a".utf8)) ?? bytes.firstRange(of: Array("com.example.b".utf8))
    else { return text }
    // Another letter of the app's name, signed by nobody.
    bytes[place.lowerBound + 4] ^= 1
    return String(decoding: Base64.standard.encode(bytes), as: UTF8.self)
  }

  @Test(arguments: damages.indices)
  func `is mended or refused for its reason`(index: Int) async throws {
    let (name, reason, damage) = Self.damages[index]
    let number = Bench.customers.firstIndex { $0.receiptKind == .current } ?? 0
    let outcome = try await Bench.extract(
      "user_id,receipt\nbefore,\(Bench.receipts[20])\n\(name.replacing(" ", with: "-")),\(damage(Bench.receipts[number]))\nafter,\(Bench.receipts[21])\n"
    )
    #expect(outcome.reasons == (reason.map { [$0: 1] } ?? [:]))
    #expect(outcome.accounts.usable == (reason == nil ? 3 : 2))
  }

  @Test func `of another app is refused, where the table names apps as Apple does`() async throws {
    let text = "app,receipt\ncom.example.other,\(Bench.receipts[0])\nInkwell,\(Bench.receipts[1])\n"
    let outcome = try await Bench.extract(text)
    #expect(outcome.reasons == ["wrongBundle": 1])
    #expect(outcome.accounts.usable == 1)
  }

  @Test func `signed by a stranger is refused, and taken at its word when asked to`() async throws {
    let receipt = String(decoding: try Bench.customers[0].receipt(signedBy: Bench.stranger), as: UTF8.self)
    #expect(try await Bench.extract(receipt).reasons == ["unknownRoot": 1])
    let outcome = try await Bench.extract(receipt) { $0.isUnverified = true }
    let line = try #require(try outcome.lines.first)
    #expect(line["verified"] == false)
    #expect(line["reason"] == "notVerified")
    #expect(line["originalTransactionIds"]?.array?.isEmpty == false)
  }

  @Test func `longer than the limit is left out, and the next one is not`() async throws {
    let long = String(repeating: "A", count: 3 << 20)
    let text = "\(Bench.receipts[0])\n\(long)\n\(Bench.receipts[1])\n"
    let outcome = try await Bench.extract(text, rowLimit: 64 << 10)
    #expect(outcome.reasons == ["tooLarge": 1])
    #expect(try outcome.lines.map { $0["line"]?.integer } == [1, 3])
    #expect(outcome.rejects.utf8.count < 1_000)
  }

  @Test func `of JSON may be as long as the limit of rows allows`() async throws {
    let note = String(repeating: "n", count: 2 << 20)
    let outcome = try await Bench.extract(#"{"note":"\#(note)","receipt":"\#(Bench.receipts[0])"}"#)
    #expect(outcome.accounts.usable == 1)
  }

  @Test func `with a quote that is never closed costs itself alone`() async throws {
    let text =
      "app,user_id,receipt\n,1,\"\(Bench.receipts[0])\n,2,\(Bench.receipts[1])\n,3,\(Bench.receipts[2])\n,4,\"open"
    let outcome = try await Bench.extract(text)
    #expect(outcome.reasons == ["malformedRow": 2])
    #expect(try outcome.lines.map { $0["userId"]?.string } == ["2", "3"])
  }

  @Test(
    arguments: [
      ("app,user_id,receipt\n", ",1,n/a!\n", "app,user_id,receipt,reason\n,1,n/a!,notBase64\n"),
      ("a;receipt\n", "1;\n", "a;receipt;reason\n1;;empty\n"),
      ("a,receipt\n", "1\n", "a,receipt,reason\n1,malformedRow\n"),
      ("", "n/a!\n", "n/a!\tnotBase64\n"),
      ("", "\n", "\tempty\n"),
      ("", #"{"receipt":"n/a!","x":1}"# + "\n", #"{"receipt":"n/a!","x":1,"reason":"notBase64"}"# + "\n"),
      ("", #"{"x":1}"# + "\n", #"{"x":1,"reason":"empty"}"# + "\n"),
      ("", #"{"x":"# + "\n", #"{"input":"{\"x\":","reason":"malformedRow"}"# + "\n"),
    ])
  func `that is rejected comes back as it was, with the reason, any number of times`(
    header: String, row: String, rejects: String
  ) async throws {
    let first = try await Bench.extract(header + row)
    #expect(first.rejects == rejects)
    let again = try await Bench.extract(first.rejects)
    #expect(again.accounts.rejected == 1)
    if !rejects.contains("malformedRow") { #expect(again.rejects == rejects) }
  }

  @Test(arguments: `An input`.Form.allCases)
  func `that was rejected and mended is usable`(form: `An input`.Form) async throws {
    let whole = form.text(0..<4)
    let damaged = whole.replacing(Bench.receipts[2].prefix(60), with: "!\(Bench.receipts[2].prefix(60))")
    let outcome = try await Bench.extract(form == .brokenLines ? whole : damaged)
    guard form != .brokenLines else { return }
    #expect(outcome.reasons == ["notBase64": 1])
    let mended = outcome.rejects.replacing("!", with: "").replacing("notBase64", with: "")
    let again = try await Bench.extract(mended)
    #expect(again.accounts.usable == 1)
    let user = form.hasUser ? Bench.customers[2].userID : nil
    #expect(try again.lines.first?["userId"]?.string == user)
  }
}
