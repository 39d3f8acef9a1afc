@testable import Database

@Suite struct `A condition that an operator wrote` {
  @Test(
    arguments: [
      "created_at < '2026-01-01'", "id > 5 AND (kind = 'a' OR name = \"it's; fine\")", "note LIKE '%\\'%'", "`a b` = 1",
    ])
  func `is taken as it is, between brackets`(text: String) throws {
    let condition = try WhereClause(text)
    let sql: SQL = "SELECT 1 WHERE \(condition: condition)"
    #expect(sql.text == "SELECT 1 WHERE (\(text))" && sql.arguments.isEmpty)
  }

  @Test(
    arguments: [
      ("", .empty), ("1; DROP TABLE x", .secondStatement), ("1) OR (1", .brackets), ("(1", .brackets), ("'a", .quotes),
      ("1 -- x", .comment), ("1 # x", .comment), ("1 /* x */", .comment),
    ] as [(String, WhereClause.Flaw)])
  func `is held to one expression`(text: String, flaw: WhereClause.Flaw) {
    #expect(throws: flaw) { try WhereClause(text) }
  }
}
