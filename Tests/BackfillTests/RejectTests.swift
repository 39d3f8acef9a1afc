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
    let number = Bench.customers.firstIndex { $0.generation == .current } ?? 0
    let outcome = try await Bench.extract(
      "user_id,receipt\nbefore,\(Bench.receipts[20])\n\(name.replacing(" ", with: "-")),\(damage(Bench.receipts[number]))\nafter,\(Bench.receipts[21])\n"
    )
    #expect(outcome.reasons == (reason.map { [$0: 1] } ?? [:]))
    #expect(outcome.accounts.usable == (reason == nil ? 3 : 2))
  }

  @Test(arguments: [false, true])
  func `with a cell that a spreadsheet would run is counted, and quoted where that is asked for`(
    isQuoted: Bool
  ) async throws {
    let cells = ["=1+1", "+1", "@a", "-a", "-1.5", "-", "a=1", #""=a,b""#]
    let text = "user_id,receipt\n" + cells.map { "\($0),n/a!\n" }.joined()
    let outcome = try await Bench.extract(text) { $0.quotesFormulas = isQuoted }
    let written = outcome.rejects.split(separator: "\n").dropFirst().map {
      String($0.dropLast(",n/a!,notBase64".count))
    }
    let quoted = ["'=1+1", "'+1", "'@a", "'-a", "-1.5", "-", "a=1", #""'=a,b""#]
    #expect(written == (isQuoted ? quoted : cells))
    #expect(outcome.formulas == 5)
  }

  @Test func `with several receipts in an object is each of them`() async throws {
    let object: JSONObject = ["purchases": [["r": .string(Bench.receipts[20])], ["r": .string(Bench.receipts[21])]]]
    let outcome = try await Bench.extract(String(decoding: object.encoded(), as: UTF8.self) + "\n")
    #expect(outcome.accounts.rows == 1)
    #expect(outcome.accounts.usable == 1)
    #expect(try outcome.lines.count == 2)
  }

  @Test func `of another app is refused, where the table names apps as Apple does`() async throws {
    let text = "app,receipt\ncom.example.other,\(Bench.receipts[0])\nInkwell,\(Bench.receipts[1])\n"
    let outcome = try await Bench.extract(text)
    #expect(outcome.reasons == ["wrongBundle": 1])
    #expect(outcome.accounts.usable == 1)
  }

  @Test func `signed by a stranger is refused, and taken at its word when asked to`() async throws {
    let receipt = String(decoding: try Bench.customers[0].encoded(signedBy: Bench.stranger), as: UTF8.self)
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

  /// As Excel writes it on Windows: José and Josè would be one user.
  @Test func `with a user id that is no UTF-8 is rejected as it came`() async throws {
    let rows = [(0xE9, 0), (0xE8, 1)].map { letter, number -> [UInt8] in
      Array("Jos".utf8) + [UInt8(letter)] + Array(",\(Bench.receipts[number])".utf8)
    }
    let table = Array("user_id,receipt\nJos\u{E9},\(Bench.receipts[2])\n".utf8) + rows[0] + [0x0A] + rows[1] + [0x0A]
    let outcome = try await Bench.extract(table)
    #expect(outcome.reasons == ["notUTF8": 2])
    #expect(try outcome.lines.map { $0["userId"]?.string } == ["Jos\u{E9}"])
    let mended = outcome.rejects.replacing("\u{FFFD}", with: "\u{E9}")
    #expect(try await Bench.extract(mended).lines.map { $0["userId"]?.string } == ["Jos\u{E9}", "Jos\u{E9}"])
  }

  @Test func `with a quote that is never closed is rejected with all that it may hold`() async throws {
    let text =
      "app,user_id,receipt\n,9,\"\(Bench.receipts[3])\"\n,1,\"\(Bench.receipts[0])\n,2,\(Bench.receipts[1])\n"
      + ",3,\"\(Bench.receipts[2])\"\n,4,\"\(Bench.receipts[4])\"\n"
    let outcome = try await Bench.extract(text)
    #expect(outcome.reasons == ["malformedRow": 3])
    #expect(try outcome.lines.map { $0["userId"]?.string } == ["9", "4"])
    #expect(outcome.doubtful == [3...5])
  }

  @Test(
    arguments: [
      ("app,user_id,receipt\n", ",1,n/a!\n", "app,user_id,receipt,reason\n,1,n/a!,notBase64\n"),
      ("a;receipt\n", "1;\n", "a;receipt;reason\n1;;empty\n"),
      ("a,receipt\n", "1\n", "a,receipt,reason\n1,malformedRow\n"),
      ("a,receipt\n", "1,n/a!,x,y\n", "a,receipt,reason\n1,n/a!,x,y,malformedRow\n"),
      ("a\treceipt\r\n", "\"1\t\n\"\tn/a!\r\n", "a\treceipt\treason\r\n\"1\t\n\"\tn/a!\tnotBase64\r\n"),
      ("\u{FEFF}\"a\",receipt\r", "1\n,\"n/\"\"a\"\r", "\u{FEFF}\"a\",receipt,reason\r\"1\n\",\"n/\"\"a\",notBase64\r"),
      ("a,receipt\n", "a 5\" tube,n/a!\n", "a,receipt,reason\n\"a 5\"\" tube\",n/a!,notBase64\n"),
      ("a,receipt\n", "\"1,n/a!\n", "a,receipt,reason\n\"\"\"1\",n/a!,malformedRow\n"),
      ("receipt\n", "n/a!\n", "receipt,reason\nn/a!,notBase64\n"),
      // A column of reasons that is the table's own.
      ("receipt,reason\n", "n/a!,refund\n", "receipt,reason\nn/a!,refund,notBase64\n"),
      ("", "n/a!\n", "n/a!\tnotBase64\n"),
      ("", "\n", "\tempty\n"),
      ("", "n/a!\tseen twice\n", "n/a!\tseen twice\tmalformedRow\n"),
      ("", #"{"receipt":"n/a!","x":1}"# + "\n", #"{"receipt":"n/a!","x":1,"reason":"notBase64"}"# + "\n"),
      ("", #"{"x":1}"# + "\n", #"{"x":1,"reason":"empty"}"# + "\n"),
      ("", #"{"x":"# + "\n", #"{"input":"{\"x\":","reason":"malformedRow"}"# + "\n"),
      (
        "", #"{"receipt":"n/a!","reason":"refund"}"# + "\n",
        #"{"input":"{\"receipt\":\"n/a!\",\"reason\":\"refund\"}","reason":"notBase64"}"# + "\n"
      ),
    ])
  func `that is rejected comes back as it was, with the reason, any number of times`(
    header: String, row: String, rejects: String
  ) async throws {
    let first = try await Bench.extract(header + row)
    #expect(first.rejects == rejects)
    let again = try await Bench.extract(first.rejects)
    #expect(again.accounts.rejected == 1)
    #expect(again.rejects == rejects)
    #expect(again.reasons == first.reasons)
  }

  @Test func `of a table without a header is rejected under names that are read again`() async throws {
    let receipt = Bench.receipts[0]
    let outcome = try await Bench.extract(
      "com.example.a,7,\(Bench.receipts[1]),2020\ncom.example.a,8,n/a!,2021\ncom.example.a,9,\(receipt),2022\n"
    ) { $0.isUnverified = true }
    let rejects = "app,user_id,receipt,column4,reason\ncom.example.a,8,n/a!,2021,notBase64\n"
    #expect(outcome.rejects.contains("com.example.a,8,n/a!,2021,notBase64\n"))
    #expect(try await Bench.extract(rejects).rejects == rejects)
  }

  /// What is longer than a row may be is not whole in the rejects.
  @Test(arguments: ["user_id,receipt\n7,", "", #"{"receipt":""#])
  func `that is too long stays rejected`(start: String) async throws {
    let text = start + String(repeating: "ü", count: 40_000) + "\n"
    let outcome = try await Bench.extract(text, rowLimit: 64 << 10)
    #expect(outcome.reasons == ["tooLarge": 1])
    #expect(outcome.rejects.utf8.count < 300 && !outcome.rejects.contains("\u{FFFD}"))
    #expect(try await Bench.extract(outcome.rejects).rejects == outcome.rejects)
  }

  /// Of a row that is none, or that is cut, nobody can know whether it is mended while its reason stands.
  @Test func `that was no row is read again once its reason is gone`() async throws {
    let row = "7,\(Bench.receipts[0])"
    let table = "user_id,receipt,reason\n"
    #expect(try await Bench.extract("\(table)\(row),malformedRow\n").reasons == ["malformedRow": 1])
    for mended in ["\(row),\n", "\(row)\n", "\(row),notBase64\n"] {
      #expect(try await Bench.extract(table + mended).lines.first?["userId"] == "7")
    }
    let object = "{\"user_id\":\"7\",\"receipt\":\"\(Bench.receipts[0])\""
    #expect(try await Bench.extract("\(object),\"reason\":\"malformedRow\"}").reasons == ["malformedRow": 1])
    #expect(try await Bench.extract("\(object),\"reason\":\"\"}").accounts.usable == 1)
    let escaped = object.replacing("\"", with: "\\\"") + "}"
    #expect(try await Bench.extract("{\"input\":\"\(escaped)\",\"reason\":null}").lines.first?["userId"] == "7")
  }

  /// Read by the plain reader, field for field, and by us, byte for byte.
  @Test func `of any table comes back whole`() async throws {
    var random = SeededRandom()
    for _ in 0..<60 {
      let table = WrittenTable.random(count: 10, using: &random) { "n/a \($0)!" }
      let outcome = try await Bench.extract(table.text)
      #expect(outcome.reasons == ["notBase64": 10], "seed \(random.seed)")
      let isReturn = table.lineEnd == .carriageReturn
      let before = try #require(table.plain)
      let rejects = Array(outcome.rejects.utf8)
      let after = try #require(
        PlainTable(rejects, delimiter: table.delimiter, endsWithReturn: isReturn), "seed \(random.seed)")
      let reasons = ["reason"] + [String](repeating: "notBase64", count: 10)
      let expected = zip(before, reasons).map { $0.fields + [Array($1.utf8)] }
      #expect(after.records.map(\.fields) == expected, "seed \(random.seed)")
      #expect(try await Bench.extract(rejects).rejects == outcome.rejects, "seed \(random.seed)")
    }
  }

  /// A quote is lost: what is rejected is a table again, whose rows stay rejected.
  @Test func `of a doubtful place comes back line for line`() async throws {
    var random = SeededRandom()
    for _ in 0..<60 {
      var table = WrittenTable.random(count: 10, using: &random) { "n/a \($0)!" }
      table.damage(.added(.random(in: 0..<10_000, using: &random)))
      let outcome = try await Bench.extract(table.text)
      let rejects = Array(outcome.rejects.utf8)
      let isReturn = table.lineEnd == .carriageReturn
      let records = try #require(
        PlainTable(rejects, delimiter: table.delimiter, endsWithReturn: isReturn), "seed \(random.seed)"
      ).records
      #expect(records.count == outcome.accounts.rejected + (rejects.isEmpty ? 0 : 1), "seed \(random.seed)")
      let again = try await Bench.extract(rejects)
      #expect(again.rejects == outcome.rejects, "seed \(random.seed)")
      #expect(again.reasons == outcome.reasons, "seed \(random.seed)")
    }
  }

  @Test(arguments: [true, false])
  func `of a folder comes back, together or file by file`(isSeparate: Bool) async throws {
    let place = TemporaryDirectory()
    let files = [
      "a.csv": "user_id,note,receipt\n7,\"a\nb\",n/a!\n8\n9,\"open,n/a!\n10,x,n/a!\n", "b.txt": "n/a!\n",
      "c.jsonl": #"{"receipt":"n/a!","x":1}"# + "\n{\n{}\n", "d.der": "0\u{80}",
    ]
    for (name, text) in files { try OutputFile("\(place.path)/\(name)").write(Array(text.utf8)) }
    let outcome = try await Bench.extract(at: place.path, isStopped: { false }) { $0.separatesRejects = isSeparate }
    #expect(outcome.reasons == ["notBase64": 3, "malformedRow": 4, "empty": 1, "notAReceipt": 1])
    guard isSeparate else {
      let again = try await Bench.extract(outcome.rejects)
      #expect(again.rejects == outcome.rejects)
      #expect(again.reasons == outcome.reasons)
      return
    }
    let table = "user_id,note,receipt,reason\n7,\"a\nb\",n/a!,notBase64\n8,malformedRow\n"
    let doubtful = "9,\"\"\"open\",n/a!,malformedRow\n10,x,n/a!,malformedRow\n"
    #expect(outcome.rejectsByFile["\(place.path)/a.csv"] == table + doubtful)
    for (file, rejects) in outcome.rejectsByFile {
      let again = try await Bench.extract(rejects)
      #expect(again.rejects == rejects, "\(file)")
    }
    #expect(outcome.rejectsByFile.count == 4)
  }

  @Test(arguments: `An input`.Form.allCases)
  func `that was rejected and mended is usable`(form: `An input`.Form) async throws {
    let whole = form.text(0..<4)
    // Receipts of one length begin alike.
    let beginnings = Bench.receipts[0..<4].map { $0.prefix(60) }
    let number = try #require(beginnings.indices.first { index in beginnings.count { $0 == beginnings[index] } == 1 })
    let damaged = whole.replacing(beginnings[number], with: "!\(beginnings[number])")
    let outcome = try await Bench.extract(form == .brokenLines ? whole : damaged)
    guard form != .brokenLines else { return }
    #expect(outcome.reasons == ["notBase64": 1])
    let mended = outcome.rejects.replacing("!", with: "").replacing("notBase64", with: "")
    let again = try await Bench.extract(mended)
    #expect(again.accounts.usable == 1)
    let user = form.hasUser ? Bench.customers[number].state.userID : nil
    #expect(try again.lines.first?["userId"]?.string == user)
  }
}
