/// Columns that an operator named, and what an operator is told of those that were found.
@Suite struct `Named columns` {
  private static let receipt = Bench.receipts[0]

  /// The rows of an input as `receipt|user|app`, and its columns.
  private func read(_ text: String, _ named: NamedColumns) throws -> (rows: [String], columns: InputColumns) {
    var reader = RowReader(named: named)
    let blocks = reader.blocks(adding: Array(text.utf8)) + reader.finish()
    var rows: [String] = []
    for block in blocks {
      block.forEachRow { row in
        let user = row.userID.map { String(decoding: $0, as: UTF8.self) } ?? "-"
        let app = row.app.map { String(decoding: $0, as: UTF8.self) } ?? "-"
        switch row.content {
        case .receipt(let text): rows.append("\(text.count)|\(user)|\(app)")
        case .rejected(let reason): rows.append(reason.code)
        }
      }
    }
    return (rows, InputColumns(try #require(blocks.first)))
  }

  @Test func `name the header of a table, whatever the others are called`() throws {
    let text = "Kunde;receipt;Beleg;Paket;Preis\nu1;none;\(Self.receipt);com.example.app;3\n"
    let (rows, columns) = try read(text, NamedColumns(receipt: "Beleg", userID: "Kunde", app: "Paket"))
    #expect(rows == ["\(Self.receipt.utf8.count)|u1|com.example.app"])
    #expect(columns.receipt == "Beleg" && columns.userID == "Kunde" && columns.app == "Paket")
    #expect(columns.unread == ["receipt", "Preis"])
  }

  @Test func `name the members of JSON objects`() throws {
    let line = #"{"Beleg":"\#(Self.receipt)","Kunde":7,"user_id":"other","status":0}"#
    for text in [line + "\n", "[" + line + "]"] {
      let (rows, columns) = try read(text, NamedColumns(receipt: "Beleg", userID: "Kunde"))
      #expect(rows == ["\(Self.receipt.utf8.count)|7|-"], "\(text.prefix(20))")
      #expect(columns.receipt == "Beleg" && columns.userID == "Kunde" && columns.app == nil)
      #expect(columns.unread == ["user_id", "status"])
    }
  }

  @Test func `are needed where no header is called as receipts are, and the headers are told`() throws {
    let (_, columns) = try read("Kunde;Beleg\nu1;\(Self.receipt.prefix(100))\n", NamedColumns())
    #expect(columns.format == .receiptLines && columns.names == ["Kunde", "Beleg"] && columns.receipt == nil)
  }

  @Test(arguments: ["2000000900000001\n", "n/a!\tnotBase64\n", "MIIT&#43;abc;def\n", "\n"])
  func `are not seen in lines of something else`(text: String) throws {
    #expect(try read(text, NamedColumns()).columns.names.isEmpty)
  }
}
