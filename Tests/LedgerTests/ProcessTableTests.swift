@Suite struct `The table of running services` {
  private let first = service(1)
  private let second = service(2, "web-2:77")

  private static func service(_ number: UInt8, _ name: String? = nil) -> ProcessTable.Service {
    ProcessTable.Service(process: [UInt8](repeating: number, count: 16), name: name)
  }

  private static func marks(in session: borrowing Session) throws(DatabaseError) -> [Int64] {
    try ProcessTable.notes(in: session).filter { !$0.isSilent }.map(\.mark)
  }

  private func with(_ body: @escaping @Sendable (Session) throws(DatabaseError) -> Void) async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Timestamp(1_796_000_000_000), in: session)
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
      #expect(try Self.marks(in: session).sorted() == [4, 5])
      #expect(try Set(ProcessTable.notes(in: session).map(\.service)) == [first, second])
      try ProcessTable.remove(first.process, in: session)
      #expect(try Self.marks(in: session) == [4])
    }
  }

  @Test func `tells of one that is silent, and forgets it after an hour`() async throws {
    let (first, second) = (first, second)
    try await with { session throws(DatabaseError) in
      for (process, silence) in [(first, 16_000), (second, 3_700_000)] {
        try ProcessTable.note(process, mark: 3, in: session)
        try ProcessTable.age(process.process, by: Int64(silence), in: session)
      }
      let notes = try ProcessTable.notes(in: session)
      #expect(notes.map(\.isSilent) == [true] && notes.allSatisfy { $0.age >= .seconds(16) }, "\(notes)")
      try ProcessTable.note(Self.service(3), mark: 9, in: session)
      #expect(try Self.marks(in: session) == [9])
      #expect(try session.query("SELECT COUNT(*) AS n FROM processes").first?.int("n") == 2)
    }
  }

  @Test func `goes by the database's clock, whatever time a session is set to`() async throws {
    let first = first
    try await with { session throws(DatabaseError) in
      try session.run("SET timestamp = 1000000000")
      try ProcessTable.note(first, mark: 3, in: session)
      try session.run("SET timestamp = DEFAULT")
      #expect(try Self.marks(in: session) == [3])
    }
  }
}

extension ProcessTable {
  /// Lets the process have said nothing for so many milliseconds.
  static func age(
    _ process: [UInt8], by silence: Int64, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute("UPDATE processes SET seen_at = seen_at - \(silence) WHERE process = \(process)")
  }
}
