@Suite struct `A table with a long text in it` {
  /// Small limits, so that small tables meet them.
  private static let limits: RowLimits = {
    var limits = RowLimits(row: 2_000)
    limits.lookahead = 500
    return limits
  }()
  /// The most that is held besides the piece that just came.
  private static let bound = 2 * limits.row + limits.patience + 500

  private static func rows(_ numbers: Range<Int>) -> String { numbers.map { "user-\($0),text,R\($0)\n" }.joined() }

  /// The numbers of the rows that are taken, each of which has to be its own user's, and the reasons of the others.
  private static func read(_ text: String, pieces: Int = 700) -> (taken: [Int], reasons: [String]) {
    var held = 0
    let rows = ReadRow.all(of: Array(("user_id,comment,receipt\n" + text).utf8), limits: limits) {
      pieces
    } held: {
      held = max(held, $0)
    }
    #expect(held <= max(bound, 64 << 10) + pieces, "\(held) bytes are held")
    let taken = rows.filter { $0.receipt != nil }.map { row in
      let number = String(decoding: row.receipt?.dropFirst() ?? [], as: UTF8.self)
      #expect(row.user == Array("user-\(number)".utf8))
      return Int(number) ?? -1
    }
    return (taken, rows.compactMap(\.reason))
  }

  @Test(arguments: [1, 700, 1 << 20])
  func `goes on behind a quote that is never closed`(pieces: Int) {
    let (taken, reasons) = Self.read(
      Self.rows(0..<50) + "user-50,\"text,R50\n" + Self.rows(51..<3_000), pieces: pieces)
    // What is not taken is as long as a row may be.
    let first = taken.dropFirst(50).first ?? 0
    #expect(taken == Array(0..<50) + Array(first..<3_000))
    #expect((150...165).contains(first), "\(first)")
    #expect(reasons == [String](repeating: "malformedRow", count: first - 50))
  }

  @Test func `goes on behind each of several`() {
    let text = (0..<5).map { part in
      "user-\(part)000,\"text,R\(part)000\n" + Self.rows(part * 1_000 + 1..<part * 1_000 + 1_000)
    }.joined()
    let (taken, reasons) = Self.read(text)
    #expect(taken.count > 4_000)
    #expect(taken.count + reasons.count == 5_000)
  }

  @Test func `that ends before a row may end has no row behind the quote`() {
    let (taken, reasons) = Self.read(Self.rows(0..<10) + "user-10,\"text,R10\n" + Self.rows(11..<80))
    #expect(taken == Array(0..<10))
    #expect(reasons.count == 70)
  }

  /// Longer than a row may be, of lines that look like rows: none of them is one.
  @Test(arguments: [2_000, 4_000, 5_500])
  func `takes nothing out of it`(length: Int) {
    let line = "victim,x,stolen\n"
    let text = [String](repeating: line, count: length / line.utf8.count).joined()
    let (taken, reasons) = Self.read("\(Self.rows(0..<5))user-5,\"\(text)\",R5\n\(Self.rows(6..<100))")
    #expect(taken == Array(0..<5) + Array(6..<100))
    #expect(reasons == ["tooLarge"])
  }

  @Test(arguments: ["say \"\"hi\"\" ", "\n", ",\"\",", "x"])
  func `has one row too long and all others`(part: String) {
    for count in [3_000, 20_000, 100_000] {
      let text = [String](repeating: part, count: count / part.utf8.count).joined()
      let (taken, reasons) = Self.read("\(Self.rows(0..<5))user-5,\"\(text)z\",R5\n\(Self.rows(6..<500))")
      #expect(taken.suffix(100) == Array(400..<500)[...])
      #expect(!reasons.isEmpty)
      if part.hasPrefix("say") || count == 3_000 { #expect(reasons == ["tooLarge"], "\(reasons.count)") }
    }
  }

  @Test func `may have a line without an end`() {
    let long = String(repeating: "x", count: 50_000)
    let (taken, reasons) = Self.read("\(Self.rows(0..<5))user-5,\(long),R5\n\(Self.rows(6..<50))")
    #expect(taken == Array(0..<5) + Array(6..<50))
    #expect(reasons == ["tooLarge"])
    let doubtful = Self.read("\(Self.rows(0..<5))user-5,\"a\"b\(long),R5\n\(Self.rows(6..<50))user-50,\"x\",R50\n")
    #expect(doubtful.reasons.first == "tooLarge")
    #expect(doubtful.taken.starts(with: 0..<5))
  }

  @Test(arguments: [1_999, 70_000, 200_001])
  func `may have nothing but quotes`(count: Int) {
    let quotes = String(repeating: "\"", count: count)
    let (taken, reasons) = Self.read(
      "\(Self.rows(0..<5))user-5,\(quotes),R5\n\(Self.rows(6..<500))user-500,\"x\",R500\n")
    #expect(taken.allSatisfy { $0 != 5 })
    #expect(!reasons.isEmpty)
    #expect(taken.suffix(100) != [] || count == 1_999)
  }

  /// Fields that begin and end with a delimiter or a line break leave the opposite reading possible at every quote.
  @Test func `is read to its end although nothing ever refutes the opposite reading`() {
    let text = (0..<3_000).map { "user-\($0),\",\n,\",R\($0)\n" }.joined()
    let (taken, reasons) = Self.read(text)
    #expect(taken == Array(0..<3_000))
    #expect(reasons == [])
  }

  /// Found by a fuzzer: in one piece the line was doubtful, in two it was too long.
  @Test func `is the same for a doubtful line that is too long`() {
    var limits = RowLimits(row: 64)
    (limits.lookahead, limits.beginning) = (48, 32)
    for length in 50...130 {
      let line = "e;$\"\";" + String(repeating: "g", count: length)
      for text in ["user_id;comment;receipt\r\n\(line)\r\n", "user_id;comment;receipt\n\(line)"] {
        let whole = ReadRow.all(of: Array(text.utf8), limits: limits)
        #expect(whole.count == 1 && whole.first?.reason != nil)
        for piece in [1, 7, 64, 91, 110] {
          #expect(ReadRow.all(of: Array(text.utf8), limits: limits) { piece } == whole, "\(length), \(piece)")
        }
      }
    }
  }

  /// What is decided depends on the bytes, not on how they come; nothing is lost, and nothing is read twice.
  @Test func `is the same wherever it is cut`() {
    var random = SeededRandom()
    var limits = RowLimits(row: 60)
    limits.lookahead = 40
    for _ in 0..<1_000 {
      let body: [UInt8] = (0..<800).map { _ in
        switch Int.random(in: 0..<40, using: &random) {
        case 0, 1: UInt8(ascii: "\"")
        case 2: UInt8(ascii: ",")
        case 3, 4: 0x0A
        default: UInt8(ascii: "x")
        }
      }
      let text = Array("user_id,receipt\n".utf8) + body
      let whole = ReadRow.all(of: text, limits: limits)
      let cut = ReadRow.all(of: text, limits: limits) { Int.random(in: 1...90, using: &random) }
      #expect(whole == cut, "seed \(random.seed)")
      for (row, next) in zip(cut, cut.dropFirst()) {
        #expect(row.position + row.raw.count < next.position && row.line < next.line, "seed \(random.seed)")
      }
    }
  }
}
