@Suite struct `An SQL literal` {
  @Test func `turns interpolations into arguments`() {
    let id: [UInt8] = [0, 39, 92]
    let name = "'; DROP TABLE t; --"
    let sql: SQL = "SELECT a FROM t WHERE id = \(id) AND name = \(name) AND n = \(7) AND at = \(Timestamp(5))"
    #expect(sql.text == "SELECT a FROM t WHERE id = ? AND name = ? AND n = ? AND at = ?")
    #expect(sql.arguments == [.bytes(id), .text(name), .integer(7), .integer(5)])
  }

  @Test func `takes every kind of value`() {
    let none: String? = nil
    let sql: SQL = "\(true) \(UInt64.max) \(Int64.min) \(none) \(SQLValue.null)"
    #expect(sql.arguments == [.integer(1), .unsigned(.max), .integer(.min), .null, .null])
  }

  @Test func `spreads a list, and an empty one matches nothing`() {
    let three: SQL = "IN (\(list: [1, 2, 3]))"
    #expect(three.text == "IN (?,?,?,?)")
    #expect(three.arguments == [1, 2, 3, 3].map { .integer($0) })
    let none: SQL = "IN (\(list: [String]()))"
    #expect(none.text == "IN (SELECT NULL FROM DUAL WHERE FALSE)")
    #expect(none.arguments.isEmpty)
  }

  @Test func `is put together from pieces in order`() {
    let conditions: [SQL] = ["a = \(1)", "b = \("x")"]
    let whole: SQL = "SELECT 1 WHERE " + conditions.joined(separator: " AND ") + " LIMIT \(5)"
    #expect(whole.text == "SELECT 1 WHERE a = ? AND b = ? LIMIT ?")
    #expect(whole.arguments == [.integer(1), .text("x"), .integer(5)])
    let nested: SQL = "(\(conditions[0]))"
    #expect(nested.text == "(a = ?)")
  }
}
