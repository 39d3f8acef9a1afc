@Suite struct `The rows of a table` {
  /// User and receipt of each row, as text; a rejected row is its line.
  private static func read(_ text: String, limits: RowLimits = RowLimits()) -> [String] {
    ReadRow.all(of: Array(text.utf8), limits: limits).map { row in
      guard let receipt = row.receipt else { return "\(row.line) \(row.reason ?? "")" }
      return "\(String(decoding: row.user ?? [], as: UTF8.self)):\(String(decoding: receipt, as: UTF8.self))"
    }
  }

  /// Texts of `user_id,comment,receipt`, and what is read.
  static let texts: [(name: String, rows: String, read: [String])] = [
    ("a line break and delimiters in a field", "alice,\"Dear team,\nI, bob, paid\",R1\n", ["alice:R1"]),
    ("a whole row in a field", "alice,\"hello\nbob,x,R9\nbye\",R1\nbob,y,R2\n", ["alice:R1", "bob:R2"]),
    ("quotes in a field", "alice,\"she said \"\"hi, bob\"\"\n\",R1\n", ["alice:R1"]),
    ("a field of delimiters", "alice,\",\",R1\nbob,\",,\",R2\n", ["alice:R1", "bob:R2"]),
    ("a field of line ends", "alice,\"\n\n\",R1\nbob,\"\r\n\",R2\n", ["alice:R1", "bob:R2"]),
    ("empty quoted fields", "alice,\"\",R1\nbob,\"\",\"\"\n", ["alice:R1", "bob:"]),
    ("a receipt in lines", "alice,x,\"MII\nabc\n=\"\nbob,y,R2", ["alice:MII\nabc\n=", "bob:R2"]),
    ("both line ends", "alice,x,R1\r\nbob,y,R2\ncarol,\"z\"\"\",R3\r\n", ["alice:R1", "bob:R2", "carol:R3"]),
    ("blank lines", "\nalice,x,R1\n\r\n  \nbob,y,R2\n\n", ["alice:R1", "bob:R2"]),
    ("quotes within unquoted fields", "alice,a 5\" screen,R1\nbob,{\"a\":\"\"},R2\n", ["alice:R1", "bob:R2"]),
    ("a lone carriage return", "alice,a\rb,R1\nbob,\"a\rb\",R2\n", ["alice:R1", "bob:R2"]),
    (
      "too many fields", "alice,x,y,R1\nbob,x,R2\n", ["2 malformedRow", "bob:R2"]
    ),
    // The row behind a row that is too short may be the rest of its text.
    (
      "a line break in an unquoted field", "alice,Hello\nbob,paid,R1\ncarol,x,R3\n",
      ["2 malformedRow", "3 malformedRow", "carol:R3"]
    ),
    (
      "line breaks in an unquoted field", "alice,Hello\n\nthere\n \nbob,paid,R1\ncarol,x,R3\n",
      ["2 malformedRow", "4 malformedRow", "6 malformedRow", "carol:R3"]
    ),
    (
      "quotes behind a short row", "alice,\"x\ny\"\nbob,\"paid\",R1\ncarol,x,R3\n",
      ["2 malformedRow", "4 malformedRow", "carol:R3"]
    ),
    ("a user with a quote in it", "ali\"ce,x,R1\nbob,x,R2\n", ["2 malformedRow", "bob:R2"]),
    // Of what cannot be told apart nothing is taken.
    (
      "a quote that is never closed", "alice,\"x,R1\nbob,y,R2\ncarol,z,R3",
      ["2 malformedRow", "3 malformedRow", "4 malformedRow"]
    ),
    (
      "one that seems to close where another opens", "alice,\"x,R1\nbob,y,R2\ncarol,\"z,\nz\",R3\ndave,w,R4\n",
      ["2 malformedRow", "3 malformedRow", "4 malformedRow", "5 malformedRow", "dave:R4"]
    ),
    (
      "one that is missing at the end", "alice,\"x,R1\nbob,y,R9\nx,R1\ncarol,\"z\",R3\ndave,w,R4\n",
      ["2 malformedRow", "3 malformedRow", "4 malformedRow", "5 malformedRow", "dave:R4"]
    ),
    (
      "one that is missing at the beginning", "zoe,\"z\",R0\nalice,x\nbob,y,R9\nx\",R1\ncarol,\"z\",R3\n",
      ["2 malformedRow", "3 malformedRow", "4 malformedRow", "5 malformedRow", "carol:R3"]
    ),
    (
      "one too many within a field", "alice,\"x\" y\nbob,y,R9\nx\",R1\ncarol,\"z\",R3\n",
      ["2 malformedRow", "3 malformedRow", "4 malformedRow", "carol:R3"]
    ),
    (
      "backslashes before quotes", "alice,\"x \\\"y\\\", z\",R1\nbob,\"y\",R2\ncarol,\"z\",R3\n",
      ["2 malformedRow", "3 malformedRow", "carol:R3"]
    ),
  ]

  @Test(arguments: texts)
  func `are read as RFC 4180 says, and rejected where they cannot be told apart`(
    text: (name: String, rows: String, read: [String])
  ) {
    #expect(Self.read("user_id,comment,receipt\n" + text.rows) == text.read)
    let semicolons = text.rows.replacing(",", with: ";")
    #expect(Self.read("user_id;comment;receipt\n" + semicolons) == text.read.map { $0.replacing(",", with: ";") })
  }

  @Test func `end with lone carriage returns where the header does`() {
    #expect(Self.read("user_id,receipt\ralice,R1\rbob,\"R\r2\"\r") == ["alice:R1", "bob:R\r2"])
    // A row that begins with a line feed is of a table whose lines end otherwise than its header.
    #expect(Self.read("user_id,receipt\ralice,R\n1\r\nbob,R2\r\n") == ["alice:R\n1", "3 malformedRow"])
    #expect(Self.read("note,user_id,receipt\rx,alice,R1\r\"\t\n\",bob,R2") == ["alice:R1", "bob:R2"])
    #expect(Self.read("\u{FEFF}user_id,receipt\r\nalice,R1\r\n") == ["alice:R1"])
    #expect(Self.read("\"user_id\",\"re\"\"ceipt\",\"a\nb\",receipt\nalice,1,2,R1\n") == ["alice:R1"])
  }

  /// Python's csv writes CR LF, and a file that is open in Windows' text mode makes CR CR LF of it.
  @Test func `end with a doubled carriage return too`() {
    let rows = "alice,R1\r\r\nbob,\"R\r\n2\"\r\r\n\r\r\ncarol,\"R3\"\r\r\ndave,R4"
    let read = ["alice:R1", "bob:R\r\n2", "carol:R3", "dave:R4"]
    for lineEnd in ["\r\r\n", "\r\n", "\n"] {
      for end in ["", "\r\r", "\r\r\n"] {
        let text = Array("user_id,receipt\(lineEnd)\(rows)\(end)".utf8)
        #expect(Self.read(String(decoding: text, as: UTF8.self)) == read)
        #expect(ReadRow.all(of: text) { 1 } == ReadRow.all(of: text))
      }
    }
  }

  /// Blocks are cut anywhere, also between a row that is too short and the next.
  @Test(arguments: ["Hello", "\"z\""])
  func `behind a short row are rejected, wherever the text is cut`(note: String) {
    let text = Array("user_id,note,receipt\nalice,\(note)\n\nbob,\(note),R2\ncarol,y,R3\n".utf8)
    var limits = RowLimits()
    (limits.beginning, limits.lookahead) = (32, 4)
    for piece in 1...text.count {
      let rows = ReadRow.all(of: text, limits: limits) { piece }
      #expect(rows.map(\.reason) == ["malformedRow", "malformedRow", nil], "\(piece)")
    }
  }

  @Test func `say their line and position`() {
    let rows = ReadRow.all(of: Array("\u{FEFF}\nuser_id,receipt\r\na,\"R\n1\"\r\n\nb,R2\n".utf8))
    #expect(rows.map(\.line) == [3, 6])
    #expect(rows.map(\.position) == [21, 31])
    #expect(rows.map(\.raw) == [Array("a,\"R\n1\"".utf8), Array("b,R2".utf8)])
  }

  @Test func `are those of a plain reader, wherever the text is cut`() throws {
    var random = SeededRandom()
    for _ in 0..<400 {
      let table = WrittenTable.random(count: .random(in: 0...12, using: &random), using: &random)
      let plain = try #require(table.plain, "seed \(random.seed)").dropFirst().filter { !$0.isBlank }
      let rows = ReadRow.all(of: table.text) { Int.random(in: 1...200, using: &random) }
      #expect(rows.map(\.line) == plain.map(\.line), "seed \(random.seed)")
      #expect(rows.map(\.position) == plain.map(\.range.lowerBound), "seed \(random.seed)")
      #expect(rows.map(\.raw) == plain.map { Array(table.text[$0.range]) }, "seed \(random.seed)")
      #expect(rows.map(\.user) == table.rows.map(\.user), "seed \(random.seed)")
      #expect(rows.map(\.receipt) == table.rows.map(\.receipt), "seed \(random.seed)")
    }
  }

  /// One quote is too many or too few, anywhere behind the header: whatever is taken was a row of the table.
  @Test func `are nobody else's when a quote is lost or comes in`() {
    var random = SeededRandom()
    var (taken, all) = (0, 0)
    for _ in 0..<2_000 {
      var table = WrittenTable.random(count: 8, using: &random)
      let place = Int.random(in: 0..<10_000, using: &random)
      table.damage(Bool.random(using: &random) ? .lost(place) : .added(place))
      let rows = ReadRow.all(of: table.text) { Int.random(in: 1...500, using: &random) }
      // What RFC 4180 allows is read as it says, though a quote is missing.
      if let plain = table.plain {
        #expect(rows.map(\.position) == plain.dropFirst().filter { !$0.isBlank }.map(\.range.lowerBound))
        continue
      }
      for row in rows {
        guard let receipt = row.receipt, !table.has(receipt, of: row.user) else { continue }
        Issue.record("seed \(random.seed): \(String(decoding: table.text, as: UTF8.self)) gives \(row)")
      }
      all += 8
      taken += rows.count { $0.receipt != nil }
    }
    #expect(taken * 3 > all, "most of what is not touched is taken: \(taken) of \(all)")
  }
}
