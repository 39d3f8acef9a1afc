import Testing

@Suite struct `switchyard dev --story` {
  @Test func `plays to its end, and everything it promises is so`() async throws {
    let database = try await TestDatabase()
    let outcome = try await database.program.process(["dev", "--story", "--once", "--listen", "127.0.0.1:0"])
    #expect(outcome.status == 0, "\(outcome)")
    #expect(!outcome.output.contains("  NO "), "\(outcome.output)")
    for said in [
      "again  ", "quarantined", "lost", "revoked", "explain com.example.trailhead", "outbox list",
      "answered by the ledger",
    ] {
      #expect(outcome.output.contains(said), "\(said) is missing in \(outcome.output)")
    }
  }
}
