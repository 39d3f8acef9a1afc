@Suite struct `A JSON array` {
  private static func element(_ number: Int) -> String {
    #"""
      {
        "user_id": "\#(Bench.customers[number].state.userID)", "note": "a \"quoted\" ] and } in text",
        "more": [1, {"deep": []}],
        "receipt": "\#(Bench.receipts[number])"
      }
    """#
  }

  @Test func `is read element by element, on any number of lines`() async throws {
    let text = "\u{FEFF}[\n" + (0..<12).map(Self.element).joined(separator: ",\n") + "\n]\n"
    let outcome = try await Bench.extract(text)
    #expect(outcome.accounts.usable == 12 && outcome.accounts.rows == 12, "\(outcome.accounts)")
    let users = try outcome.lines.map { $0["userId"]?.string }
    #expect(users == (0..<12).map { Bench.customers[$0].state.userID })
    #expect(try outcome.lines.first?["line"] == 2)
  }

  @Test func `may hold receipts alone, and arrays may follow each other`() async throws {
    let text =
      "[\"\(Bench.receipts[0])\",\n \"\(Bench.receipts[1].replacing("/", with: "\\/"))\"]\n[[\"\(Bench.receipts[2])\"]]"
    let outcome = try await Bench.extract(text)
    #expect(outcome.accounts.usable == 3 && outcome.accounts.rows == 3, "\(outcome.accounts)")
  }

  @Test func `that is cut off or has a long element loses no other element`() async throws {
    let long = #"{"receipt": "\#(String(repeating: "A", count: 300_000))"}"#
    let text =
      "[" + Self.element(0) + "," + long + "," + Self.element(1) + ", {\"receipt\": \"\(Bench.receipts[2].prefix(90))"
    let outcome = try await Bench.extract(text, rowLimit: 100_000)
    #expect(outcome.accounts.usable == 2, "\(outcome.accounts)")
    #expect(outcome.reasons == ["tooLarge": 1, "malformedRow": 1])
    let lines = outcome.rejects.split(separator: "\n")
    #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("{\"input\":") }, "\(lines.map { $0.prefix(40) })")
  }
}
