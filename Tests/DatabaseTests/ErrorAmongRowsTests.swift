@Suite struct `An error that arrives among the rows` {
  @Test func `has its number, and leaves the connection usable`() async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    // The first row is fine; for the second the subquery has two rows, which the server finds out on the way.
    let failing: SQL = """
      SELECT t.v, (SELECT u.w FROM (SELECT 1 AS w UNION SELECT 2) u WHERE u.w <= t.v) AS x
      FROM (SELECT 1 AS v UNION ALL SELECT 2) t
      """
    for _ in 0..<2 {
      await #expect(throws: DatabaseError(.other(1242), "")) {
        try await connection.read { session throws(DatabaseError) in try session.query(failing) }
      }
    }
    let rows = try await connection.read { session throws(DatabaseError) in try session.query("SELECT 1 AS one") }
    #expect(try rows.first?.int("one") == 1)
    await connection.close()
  }
}
