import Database
import Ledger
import Support
import Testing
import Time

@Suite struct `The table of running services` {
  private let first = [UInt8](repeating: 1, count: 16)
  private let second = [UInt8](repeating: 2, count: 16)

  private func with(_ body: @escaping @Sendable (Session) throws(DatabaseError) -> Void) async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Milliseconds(1_796_000_000_000), in: session)
      try body(session)
    }
    await connection.close()
  }

  @Test func `has one row for each, with what it said last, until it stops`() async throws {
    let (first, second) = (first, second)
    try await with { session throws(DatabaseError) in
      try ProcessTable.note(first, mark: 3, in: session)
      try ProcessTable.note(second, mark: 4, in: session)
      try ProcessTable.note(first, mark: 5, in: session)
      #expect(try ProcessTable.noted(in: session).marks.sorted() == [4, 5])
      try ProcessTable.remove(first, in: session)
      #expect(try ProcessTable.noted(in: session).marks == [4])
    }
  }

  @Test func `tells of one that is silent, and forgets it after an hour`() async throws {
    let (first, second) = (first, second)
    try await with { session throws(DatabaseError) in
      for (process, silence) in [(first, 16_000), (second, 3_700_000)] {
        try ProcessTable.note(process, mark: 3, in: session)
        _ = try session.execute("UPDATE processes SET seen_at = seen_at - \(silence) WHERE process = \(process)")
      }
      let noted = try ProcessTable.noted(in: session)
      #expect(noted.marks.isEmpty && noted.silent.count == 1, "\(noted)")
      #expect(noted.silent.allSatisfy { $0 >= .seconds(16) && $0 < .minutes(10) }, "\(noted)")
      try ProcessTable.note([UInt8](repeating: 3, count: 16), mark: 9, in: session)
      #expect(try ProcessTable.noted(in: session).marks == [9])
      #expect(try session.query("SELECT COUNT(*) AS n FROM processes").first?.int("n") == 2)
    }
  }

  @Test func `goes by the database's clock, whatever time a session is set to`() async throws {
    let first = first
    try await with { session throws(DatabaseError) in
      try session.run("SET timestamp = 1000000000")
      try ProcessTable.note(first, mark: 3, in: session)
      try session.run("SET timestamp = DEFAULT")
      #expect(try ProcessTable.noted(in: session).marks == [3])
    }
  }
}
