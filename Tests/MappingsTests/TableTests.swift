@Suite struct `A table` {
  private func bytes(_ lines: [String]) -> [UInt8] { Array(lines.joined(separator: "\n").utf8) }

  @Test func `is rows below a line of column names, comments and empty lines left out`() throws {
    let table = try Table(
      bytes(["# why", "", "id\ta\tb", "X-001\t1\t", "# more", "Y-999\t-\tü"]), columns: ["id", "a", "b"])
    #expect(table.rows.map(\.id) == ["X-001", "Y-999"])
    #expect(table.rows.map { $0["a"] } == ["1", "-"])
    #expect(table.rows.map { $0["b"] } == ["", "ü"])
    #expect(table.rows.map { $0["c"] } == ["", ""])
  }

  @Test func `may have been saved on Windows`() throws {
    let table = try Table(Array("id\ta\r\nX-001\t1\r\n".utf8), columns: ["id", "a"])
    #expect(table.rows.map { $0["a"] } == ["1"])
  }

  @Test(
    arguments: [
      ([], .noColumns), (["# only a comment"], .noColumns), (["id\tb"], .wrongColumns(["id", "b"])),
      (["id\ta\ta"], .wrongColumns(["id", "a", "a"])), (["id"], .wrongColumns(["id"])),
      (["id\ta", "X-001"], .wrongCellCount(line: 2)), (["# c", "id\ta", "", "X-001\t1\t2"], .wrongCellCount(line: 4)),
      (["id\ta", "X-001\t1", "X-001\t2"], .repeatedID("X-001")), (["id\ta", "X-1\t1"], .malformedID(line: 2)),
      (["id\ta", "x-001\t1"], .malformedID(line: 2)), (["id\ta", "X-00A\t1"], .malformedID(line: 2)),
      (["id\ta", "X+001\t1"], .malformedID(line: 2)), (["id\ta", "\t1"], .malformedID(line: 2)),
    ] as [([String], Table.Malformed)])
  func `is refused with the reason`(lines: [String], reason: Table.Malformed) {
    #expect(throws: reason) { try Table(bytes(lines), columns: ["id", "a"]) }
  }

  @Test(
    arguments: [
      (["N-001\tTEST\t-\tyesterday"], .unknownWord(row: "N-001", column: "date")),
      (["N-001\tTEST\t-\tsigned", "N-002\tTEST\t-\texpiry"], .repeatedRow("N-002")),
      (["N-001\tTEST\t-"], .wrongCellCount(line: 2)),
    ] as [([String], Table.Malformed)])
  func `of events is refused with the reason`(rows: [String], reason: Table.Malformed) {
    #expect(throws: reason) { try EventTable(bytes(["id\tnotificationType\tsubtype\tdate"] + rows)) }
  }

  @Test func `of events is found by type and subtype`() throws {
    let table = try EventTable(
      bytes(["id\tnotificationType\tsubtype\tdate", "N-001\tA\t-\tsigned", "N-002\tA\tB\tpurchase"]))
    #expect(table["A", nil]?.id == "N-001")
    #expect(table["A", "B"]?.moment == .purchase)
    #expect(table["A", "-"] == nil)
    #expect(table["B", nil] == nil)
  }

  @Test(
    arguments: [
      (["R-900\tunheardOf\tsilent\t-"], .unknownWord(row: "R-900", column: "field")),
      (["R-900\tproductId\tsometimes\t-"], .unknownWord(row: "R-900", column: "absence")),
      (["R-900\tproductId\tsilent\tnobody"], .unknownWord(row: "R-900", column: "noVote")),
      (["R-900\tproductId\tsilent\t"], .unknownWord(row: "R-900", column: "noVote")),
      (["R-900\tproductId\tsilent\t-", "R-901\tproductId\tsilent\t-"], .repeatedRow("R-901")),
      (["R-900\tsignedDate\tenvelope\t-", "R-901\tsignedDate\tenvelope\t-"], .repeatedRow("R-901")),
      (["R-900\tsignedDate\tenvelope\t-"], .missingRow("originalTransactionId")),
      (["R-900\toriginalTransactionId\timmutable\t-"], .missingRow("productId")),
    ] as [([String], Table.Malformed)])
  func `of fields is refused with the reason`(rows: [String], reason: Table.Malformed) {
    #expect(throws: reason) { try FieldTable<RenewalField>(bytes(["id\tfield\tabsence\tnoVote"] + rows)) }
  }

  @Test(
    arguments: [
      (["E-900\tx\tName\tno\ta\tb"], .unknownWord(row: "E-900", column: "code")),
      (["E-900\t1\tName\tsoon\ta\tb"], .unknownWord(row: "E-900", column: "retry")),
      (["E-900\t1\tName\tno\ta\tb", "E-901\t1\tOther\tno\ta\tb"], .repeatedRow("E-901")),
    ] as [([String], Table.Malformed)])
  func `of errors is refused with the reason`(rows: [String], reason: Table.Malformed) {
    #expect(throws: reason) { try ErrorTable(bytes(["id\tcode\tname\tretry\tmeaning\tnext"] + rows)) }
  }

  @Test(
    arguments: [
      (["C-900\ta\tw\tGET\t/a\tfew\tyes\tno"], .unknownWord(row: "C-900", column: "perSecond")),
      (["C-900\ta\tw\tGET\t/a\t0\tyes\tno"], .unknownWord(row: "C-900", column: "perSecond")),
      (["C-900\ta\tw\tGET\t/a\t-\tperhaps\tno"], .unknownWord(row: "C-900", column: "repeatable")),
      (["C-900\ta\tw\tGET\t/a\t-\tno\tno", "C-901\ta\tw\tPUT\t/b\t1\tyes\tyes"], .repeatedRow("C-901")),
    ] as [([String], Table.Malformed)])
  func `of endpoints is refused with the reason`(rows: [String], reason: Table.Malformed) {
    #expect(throws: reason) {
      try EndpointTable(bytes(["id\tendpoint\tword\tmethod\tpath\tperSecond\trepeatable\tchanges"] + rows))
    }
  }

  @Test(
    arguments: [
      (["P-900\t1\tkey\tunheardOf\ttext"], .unknownWord(row: "P-900", column: "field")),
      (["P-900\t1\tkey\tproductId\tupsideDown"], .unknownWord(row: "P-900", column: "form")),
      (["P-900\tx\tkey\tproductId\ttext"], .unknownWord(row: "P-900", column: "attribute")),
      (["P-900\t1\t-\tproductId\ttext", "P-901\t1\t-\tproductId\ttext"], .repeatedRow("P-901")),
      (["P-900\t-\tkey\tproductId\ttext", "P-901\t1\tkey\tproductId\ttext"], .repeatedRow("P-901")),
    ] as [([String], Table.Malformed)])
  func `of receipts is refused with the reason`(rows: [String], reason: Table.Malformed) {
    #expect(throws: reason) { try ReceiptTable(bytes(["id\tattribute\tkey\tfield\tform"] + rows)) }
  }
}
