@testable import Ledger

@Suite struct `The schema` {
  private func database<R: Sendable>(_ body: (Pool) async throws -> R) async throws -> R {
    let pool = Pool(try await PrivateMariaDB.shared.database())
    do {
      let result = try await body(pool)
      await pool.close()
      return result
    } catch {
      await pool.close()
      throw error
    }
  }

  private let now = Timestamp(1_796_000_000_000)  // 2026-11-29

  @Test func `is told of an empty database, made once, and found current`() async throws {
    try await database { pool in
      try await pool.read { [now] session throws(DatabaseError) in
        let before = try Migrator().status(in: session)
        #expect(before.installed == 0 && before.known == 17 && !before.isCurrent)
        #expect(try Migrator().migrate(at: now, in: session).map(\.version) == Migration.all.map(\.version))
        #expect(try Migrator().migrate(at: now, in: session).isEmpty)
        #expect(try Migrator().status(in: session).isCurrent)
      }
    }
  }

  @Test func `is made after a migration that was cut off anywhere`() async throws {
    try await database { pool in
      try await pool.read { [now] session throws(DatabaseError) in
        let statements = Migration.first.statements
        for done in [1, statements.count / 2, statements.count] {
          for statement in statements.prefix(done) { try session.run(statement) }
        }
        #expect(try Migrator().migrate(at: now, in: session).map(\.version) == [17])
      }
    }
  }

  @Test func `is made by two connections at once`() async throws {
    try await database { pool in
      try await withThrowingDiscardingTaskGroup { group in
        for _ in 0..<2 {
          group.addTask { [now] in
            _ = try await pool.read { session throws(DatabaseError) in
              try Migrator().migrate(at: now, in: session).count
            }
          }
        }
      }
      let status = try await pool.read { session throws(DatabaseError) in try Migrator().status(in: session) }
      #expect(status.isCurrent)
    }
  }

  @Test func `has a version of its own`() {
    let text = Migration.first.statements.map(\.text).joined(separator: ";\n")
    #expect(
      Digest.sha256(Array(text.utf8)).hex.prefix(16) == "1baca42783ce0e13",
      "a statement changed: raise the version, so that this build refuses the databases of earlier ones")
  }

  /// MySQL's and MariaDB's reserved words that a column may be called by mistake.
  private static let reserved = Set(
    """
    accessible add after all analyze and as asc before between both by call cascade case change check column condition
    constraint continue convert cross cube current_user cursor databases default delayed delete desc describe distinct div
    double drop dual each else empty enclosed except exists exit explain false fetch float for force foreign from function
    general generated get grant group grouping groups having if ignore in index inner insert int interval into is iterate
    join key keys kill lag last_value lateral lead leading leave left library like limit linear lines load lock long loop
    manual match maxvalue merge mod modifies natural not nth_value null numeric of offset on optimize option optionally or
    order out outer over parallel partition period precision primary procedure purge qualify range rank read reads
    recursive references release rename repeat replace require resignal restrict return returning revoke right row row_number
    rows schema select sensitive separator set show signal spatial specific sql ssl starting stored system table tablesample
    terminated then to trailing trigger true undo union unique unlock unsigned update usage use using values varying virtual
    when where while window with write xor zerofill
    """.split(whereSeparator: \.isWhitespace).map(String.init))

  @Test func `names no column by a reserved word`() {
    for statement in Migration.first.statements {
      for line in statement.text.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard let word = words.first, words.count > 1, word == word.lowercased() else { continue }
        let isReserved = Self.reserved.contains(String(word))
        #expect(!isReserved, "\(line)")
      }
    }
  }

  @Test(arguments: [1, 16, 18])
  func `of another build is not current, and is left as it is`(version: Int) async throws {
    try await database { pool in
      let status = try await pool.read { [now] session throws(DatabaseError) in
        _ = try Migrator().migrate(at: now, in: session)
        _ = try session.execute("UPDATE schema_versions SET version = \(Int64(version))")
        #expect(try Migrator().migrate(at: now, in: session).isEmpty)
        return try Migrator().status(in: session)
      }
      #expect(status.installed == version)
      #expect(!status.isCurrent)
      #expect(!status.isOlder)
    }
  }

  @Test func `has a partition for each month ahead, also across a year's end`() async throws {
    try await database { pool in
      try await pool.read { [now] session throws(DatabaseError) in
        _ = try Migrator().migrate(at: now, in: session)
        #expect(try BodyPartitions.prepare(for: now, in: session) == 4)
        #expect(try BodyPartitions.prepare(for: now, in: session) == 0)
        #expect(try BodyPartitions.prepare(for: now + .days(40), in: session) == 2)
        #expect(try BodyPartitions.prepare(for: now - .days(90), in: session) == 0)
        let names = try session.query(
          """
          SELECT partition_name FROM information_schema.partitions
          WHERE table_schema = DATABASE() AND table_name = 'bodies' ORDER BY partition_ordinal_position
          """)
        var found: [String] = []
        for row in names { found.append(try row.text(0)) }
        #expect(found == ["m202611", "m202612", "m202701", "m202702", "m202703", "m202704", "rest"])
      }
    }
  }

  @Test(arguments: [
    ("2026-12-31T23:59:59.999Z", 1_798_761_599_999 as Int64, 202_612 as Int64, 202_701 as Int64),
    ("2027-01-01T00:00:00Z", 1_798_761_600_000, 202_701, 202_702), ("1970-01-01T00:00:00Z", 0, 197_001, 197_002),
    ("2028-02-29T12:00:00Z", 1_835_438_400_000, 202_802, 202_803),
  ])
  func `counts months in UTC`(text: String, instant: Int64, number: Int64, next: Int64) {
    #expect(Timestamp(instant).iso8601 == text)
    #expect(Month(Timestamp(instant)).number == number && Month(Timestamp(instant)).next.number == next)
  }

  @Test func `sorts ranks as they are ordered, also those of before 1970`() {
    var random = SeededRandom()
    let seed = random.seed
    let times: [Int64] = [.min, .min + 1, -62_135_769_600_000, -1, 0, 1, 1_780_000_000_000, .max]
    let ranks = (0..<200).map { _ in
      Rank(
        asOf: Timestamp(
          Bool.random(using: &random)
            ? times.randomElement(using: &random)! : .random(in: .min ... .max, using: &random)),
        tieBreak: (0..<16).map { _ in UInt8.random(in: 0...3, using: &random) })
    }
    for a in ranks {
      let bytes = EncodedRank.bytes(a)
      #expect(bytes.count == EncodedRank.size && EncodedRank.tieBreak(bytes) == a.tieBreak)
      for b in ranks {
        #expect(bytes.lexicographicallyPrecedes(EncodedRank.bytes(b)) == (a < b), "\(a), \(b), seed \(seed)")
      }
    }
  }
}
