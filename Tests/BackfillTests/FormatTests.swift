@Suite struct `An input` {
  /// Ways to write ten receipts down, with the user's id or without.
  enum Form: String, CaseIterable, Sendable {
    case named, reordered, guessed, quoted, tabs, semicolons, brokenLines, windows, jsonLines, otherKeys, lines, marked

    func text(_ numbers: Range<Int>) -> String {
      let rows = numbers.map {
        (Bench.customers[$0].state.app.bundleID, Bench.customers[$0].state.userID, Bench.receipts[$0])
      }
      func table(_ header: String?, _ row: ((String, String, String)) -> String) -> String {
        (header.map { [$0] } ?? []).joined() + rows.map(row).joined()
      }
      return switch self {
      case .named: table("app,user_id,receipt\n") { "\($0.0),\($0.1),\($0.2)\n" }
      case .reordered: table("id,Receipt-Data,created,UserID,bundle_id\n") { "7,\($0.2),2020-01-01,\($0.1),\($0.0)\n" }
      case .guessed: table(nil) { "\($0.0),\($0.1),\($0.2)\n" }
      case .quoted: table("\"app\",\"user_id\",\"receipt\"\n") { "\"\($0.0)\",\"\($0.1)\",\"\($0.2)\"\n" }
      case .tabs: table("app\tuser_id\treceipt\n") { "\($0.0)\t\($0.1)\t\($0.2)\n" }
      case .semicolons: table("receipt;user_id;app\n") { "\($0.2);\($0.1);\($0.0)\n" }
      case .brokenLines:
        table("app,user_id,receipt\n") { "\($0.0),\($0.1),\"\(Form.broken($0.2))\"\n" }
      case .windows: table("app,user_id,receipt\r\n") { "\($0.0),\($0.1),\($0.2)\r\n" }
      case .jsonLines: table(nil) { #"{"app":"\#($0.0)","user_id":"\#($0.1)","receipt":"\#($0.2)"}"# + "\n" }
      case .otherKeys:
        table("\n") {
          #"{ "receipt-data": "\#($0.2.replacing("/", with: "\\/"))", "n": [1], "userId": "\#($0.1)" }"# + "\n"
        }
      case .lines: table(nil) { "\($0.2)\n" }
      case .marked: "\u{FEFF}" + table("app,user_id,receipt\n") { "\($0.0),\($0.1),\($0.2)\n" }
      }
    }

    var hasApp: Bool { self != .lines && self != .otherKeys }
    var hasUser: Bool { self != .lines }

    private static func broken(_ text: String) -> String {
      stride(from: 0, to: text.utf8.count, by: 76).map { start in
        String(decoding: text.utf8.dropFirst(start).prefix(76), as: UTF8.self)
      }.joined(separator: "\n")
    }
  }

  @Test(arguments: Form.allCases, ["\n", ""])
  func `is understood however its rows are written`(form: Form, end: String) async throws {
    var text = form.text(0..<10)
    if end.isEmpty { while text.last?.isNewline == true { text.removeLast() } }
    let outcome = try await Bench.extract(text)
    #expect(outcome.accounts.usable == 10, "\(outcome.reasons)")
    #expect(outcome.accounts.rows == 10)
    for (line, customer) in zip(try outcome.lines, Bench.customers) {
      #expect(line["app"]?.string == (form.hasApp ? customer.state.app.bundleID : nil))
      #expect(line["userId"]?.string == (form.hasUser ? customer.state.userID : nil))
      #expect(line["verified"] == true)
      let ids = line["originalTransactionIds"]?.array?.compactMap(\.string) ?? []
      #expect(Set(ids) == Set(customer.originalTransactionIDs))
    }
  }

  @Test(arguments: ["\\N", "NULL", "null", "nil", "None", "undefined", "0", "(null)"])
  func `with a word for nothing in place of the user names none`(word: String) async throws {
    let (one, two) = (Bench.receipts[0], Bench.receipts[1])
    let escaped = word.replacing("\\", with: "\\\\")
    for text in [
      "user_id,receipt\n\(word),\(one)\nalice,\(two)\n",
      #"{"user_id":"\#(escaped)","receipt":"\#(one)"}"# + "\n" + #"{"user_id":"alice","receipt":"\#(two)"}"#,
    ] {
      #expect(try await Bench.extract(text).lines.map { $0["userId"]?.string } == [nil, "alice"])
    }
  }

  @Test func `of a web page's data URIs names no user`() async throws {
    let prefix = "data:application/octet-stream;base64,"
    let lines = Bench.receipts.prefix(3).map { "\(prefix)\($0)\n" }.joined()
    let table = "user_id;receipt\n" + Bench.receipts.prefix(3).map { "alice;\"\(prefix)\($0)\"\n" }.joined()
    for (text, user) in [(lines, nil), (table, "alice")] {
      let rows = try await Bench.extract(text).lines
      #expect(rows.map { $0["userId"]?.string } == [user, user, user])
      #expect(rows.allSatisfy { $0["verified"] == true })
    }
  }

  /// As cordova, React Native, Unity and Flutter write a purchase.
  @Test func `of client libraries' objects has the receipts in them`() async throws {
    let receipts = Bench.receipts.prefix(3).map { String($0) }
    let objects = [
      #"{"transactionId":"1","user_id":"alice","transaction":{"appStoreReceipt":"\#(receipts[0])"}}"#,
      #"{"user_id":"bob","receipt":"{\"Store\":\"AppleAppStore\",\"Payload\":\"\#(receipts[1])\"}"}"#,
      #"{"user_id":"eve","verificationData":{"serverVerificationData":"\#(receipts[2])"}}"#,
    ]
    let lines = try await Bench.extract(objects.joined(separator: "\n")).lines
    #expect(lines.map { $0["userId"]?.string } == ["alice", "bob", "eve"])
    #expect(lines.allSatisfy { $0["verified"] == true })
  }

  /// An empty field is no user: rows of strangers must not share one.
  @Test func `without a user id gives none`() async throws {
    let (one, two) = (Bench.receipts[0], Bench.receipts[1])
    for text in [
      "user_id,receipt\n,\(one)\n \t ,\(two)\n", ",\(one)\n\u{A0},\(two)\n",
      #"{"user_id":"","receipt":"\#(one)"}"# + "\n" + #"{"user_id":" \u00a0","receipt":"\#(two)"}"#,
    ] {
      let lines = try await Bench.extract(text).lines
      #expect(lines.count == 2, "\(text.prefix(20))")
      for line in lines { #expect(line["userId"] ?? .null == .null, "\(text.prefix(20))") }
    }
  }

  /// A platform or the beginning of a data URI would be one account of everybody.
  @Test func `without a header takes no column for users' that says the same in every row`() async throws {
    let (one, two) = (Bench.receipts[0], Bench.receipts[1])
    let uri = "data:application/octet-stream;base64"
    for (text, users) in [
      ("ios,2026-01-01,\(one)\nios,2026-01-02,\(two)\n", [nil, nil]), ("ios,\(one)\nios,\(two)\n", [nil, nil]),
      ("Notes,\(uri),\(one)\nNotes,\(uri),\(two)\n", [nil, nil]), ("alice,\(one)\n", ["alice"]),
      ("alice,\(one)\n,\(two)\n", ["alice", nil]), ("\\N,2026,\(one)\nbob,2025,\(two)\n", [nil, "bob"]),
    ] {
      let lines = try await Bench.extract(text).lines
      #expect(lines.map { $0["userId"]?.string } == users, "\(text.prefix(60))")
    }
    // A column that says another thing in a later row is told by the first hundred.
    let rows = (0..<101).map { "\($0 == 99 ? "bob" : "alice"),\($0 == 100 ? two : one)\n" }.joined()
    let users = ReadRow.all(of: Array(rows.utf8), piece: { 10_000 }).map {
      $0.user.map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(users == (0..<101).map { $0 == 99 ? "bob" : "alice" })
  }

  @Test func `without a header has the delimiter that leaves a receipt whole`() async throws {
    let lines = try await Bench.extract("Smith, John;\(Bench.receipts[0])\nDoe, Jane;\(Bench.receipts[1])\n").lines
    #expect(lines.map { $0["userId"]?.string } == ["Smith, John", "Doe, Jane"])
  }

  @Test func `in UTF-16 is refused with a word on what to do`() async throws {
    let text = "user_id,receipt\n".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let error = await #expect(throws: FileError.self) { try await Bench.extract([0xFF, 0xFE] + text) }
    #expect(error.map { "\($0)" }?.contains("iconv -f UTF-16 -t UTF-8") == true)
  }

  @Test func `of receipts and users is a table although the first row has no user`() async throws {
    let rows = Bench.receipts[0..<3]
    let users = zip(rows, ["", "u1", "u2"]).map { "\($0)\t\($1)\n" }.joined()
    #expect(try await Bench.extract(users).lines.map { $0["userId"]?.string } == [nil, "u1", "u2"])
  }

  /// What stands behind a receipt may be a user, who is not dropped without a word.
  @Test func `of one receipt a line rejects what else stands in a line`() async throws {
    let (one, two) = (Bench.receipts[0], Bench.receipts[1])
    let outcome = try await Bench.extract("\(one)\n\(two)\tu1\n\(two)\t\n")
    #expect(outcome.reasons == ["malformedRow": 1])
    #expect(try outcome.lines.map { $0["line"]?.integer } == [1, 3])
    #expect(outcome.rejects == "\(two)\tu1\tmalformedRow\n")
    #expect(try await Bench.extract(outcome.rejects).rejects == outcome.rejects)
  }

  /// The order of members is nobody's decision, so names decide: docs/receipts.md has their order.
  @Test func `with several names of a user takes the same one in every row`() async throws {
    let (one, two) = (Bench.receipts[0], Bench.receipts[1])
    let objects = [
      #"{"user_id":"42","username":"bob","receipt":"\#(one)","latest_receipt":"n/a!"}"#,
      #"{"latest_receipt":"n/a!","username":"bob","receipt":"\#(two)","user_id":"43"}"#,
    ].joined(separator: "\n")
    #expect(try await Bench.extract(objects).lines.map { $0["userId"]?.string } == ["42", "43"])
    let table = "username,latest_receipt,user_id,receipt\nbob,n/a!,42,\(one)\n"
    #expect(try await Bench.extract(table).lines.map { $0["userId"]?.string } == ["42"])
    // A name is not taken for an id where the id is missing.
    let nobody = #"{"user_id":null,"username":"bob","receipt":"\#(one)"}"#
    #expect(try await Bench.extract(nobody).lines.map { $0["userId"]?.string } == [nil])
  }

  @Test func `says the line on which a row begins, whatever breaks within it`() async throws {
    func lines(_ form: Form) async throws -> [Int64?] {
      try await Bench.extract(form.text(0..<3)).lines.map { $0["line"]?.integer }
    }
    #expect(try await lines(.lines) == [1, 2, 3])
    #expect(try await lines(.named) == [2, 3, 4])
    #expect(try await lines(.otherKeys) == [2, 3, 4])
    let height = Int64((Bench.receipts[0].utf8.count + 75) / 76)
    #expect(try await lines(.brokenLines).prefix(2) == [2, 2 + height])
  }

  @Test(arguments: ["gzip", "zstd"])
  func `is opened when it is compressed`(name: String) async throws {
    let packed = Pack.packed(Array(Form.named.text(0..<60).utf8), name == "gzip" ? .gzip : .zstd)
    #expect(try await Bench.extract(packed).accounts.usable == 60)
    let place = TemporaryDirectory()
    try OutputFile("\(place.path)/cut").write(Array(packed.dropLast(900)))
    await #expect(throws: FileError.self) { try await Bench.extract(at: "\(place.path)/cut") }
  }

  @Test(arguments: [CompressionFormat.gzip, .zstd])
  func `may be compressed in any number of empty parts`(format: CompressionFormat) async throws {
    var parts: [UInt8] = []
    for _ in 0..<60_000 { parts += Pack.packed([], format) }
    let outcome = try await Bench.extract(parts + Pack.packed(Array(Form.named.text(0..<3).utf8), format) + parts)
    #expect(outcome.accounts.usable == 3)
  }

  @Test func `may be one receipt, as bytes or broken into lines`() async throws {
    let text = Bench.receipts[0]
    let bytes = try #require(Base64.standard.decode(Array(text.utf8)))
    for input in [bytes, Array(text.utf8), Array("\(text)\n".utf8)] {
      #expect(try await Bench.extract(input).accounts.usable == 1)
    }
    let broken = stride(from: 0, to: text.utf8.count, by: 64).map { start in
      String(decoding: text.utf8.dropFirst(start).prefix(64), as: UTF8.self)
    }.joined(separator: "\r\n")
    let outcome = try await Bench.extract(broken)
    #expect(outcome.accounts.usable == 1)
    #expect(outcome.accounts.rows == 1)
  }

  @Test func `may be a folder, whose files are named in what comes out`() async throws {
    let place = TemporaryDirectory()
    _ = FileMetadata.makeDirectory("\(place.path)/more")
    try OutputFile("\(place.path)/b.csv").write(Array(Form.named.text(2..<5).utf8))
    try OutputFile("\(place.path)/a.b64").write(Array(Bench.receipts[0].utf8))
    try OutputFile("\(place.path)/c.gz").write(Pack.packed(Array(Bench.receipts[1].utf8), .gzip))
    try OutputFile("\(place.path)/more/d.der").write([0x30, 0x82, 0x01])
    try OutputFile("\(place.path)/.hidden").write(Array("no receipt".utf8))
    let outcome = try await Bench.extract(at: place.path)
    #expect(outcome.accounts.usable == 5)
    let files = try outcome.lines.map { $0["file"]?.string?.split(separator: "/").last.map { String($0) } }
    #expect(files == ["a.b64", "b.csv", "b.csv", "b.csv", "c.gz"])
    #expect(outcome.reasons == ["truncated": 1])
    #expect(outcome.rejects.contains("more/d.der"))
  }

  @Test(arguments: ["", "\n\n", "app,user_id,receipt\n", "app,user_id,receipt"])
  func `may be empty`(text: String) async throws {
    let outcome = try await Bench.extract(text)
    #expect(outcome.accounts.usable == 0)
    #expect(outcome.output == "")
  }
}
