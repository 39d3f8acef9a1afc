@testable import switchyard

/// How much memory the private database takes, and what is said when the ledger has grown beyond it.
@Suite struct `The memory of the database` {
  private static func size(_ arguments: [String], _ environment: [String: String] = [:]) throws -> ByteSize {
    guard case .run(_, let parsed) = try SwitchyardCommand.command.parse(arguments, environment: environment) else {
      throw UsageError(.missingCommand, "not a run", path: [])
    }
    return try DatabaseMemory.size(parsed)
  }

  @Test func `is a quarter of the machine's, unless something else is said`() throws {
    let machine = MachineMemory().bytes
    #expect(try Self.size(["serve"]).bytes == max(32 << 20, machine / 4))
    #expect(try Self.size(["serve", "--database-memory", "512M"]) == ByteSize(512 << 20))
    let environment = ["SWITCHYARD_DATABASE_MEMORY": "64M"]
    #expect(try Self.size(["reconcile"], environment) == ByteSize(64 << 20))
    #expect(try Self.size(["doctor", "--database-memory", "128m"], environment) == ByteSize(128 << 20))
    #expect(DatabaseMemory.standard(of: ByteSize(1 << 30)) == ByteSize(256 << 20))
    #expect(DatabaseMemory.standard(of: ByteSize(64 << 20)) == ByteSize(32 << 20), "the least a server works with")
  }

  @Test(arguments: ["31M", "0", "-1", "lots", "1.5G", "1024T"])
  func `is refused outside of its bounds, which are named`(text: String) throws {
    let error = try #require(throws: UsageError.self) { try Self.size(["serve", "--database-memory=\(text)"]) }
    #expect(error.code == .invalidValue)
    #expect(error.description.contains("from 32M to \(ByteSize(MachineMemory().bytes))"), "\(error)")
  }

  @Test func `is of no interest on a database of the operator's own`() async throws {
    let database = try await TestDatabase.migrated()
    var program = database.program
    program.environment["SWITCHYARD_DATABASE_MEMORY"] = "lots"
    let outcome = try await program.run("db", "status")
    #expect(outcome.status == 0, "\(outcome)")
  }

  private static let gibibyte = 1 << 30

  @Test(
    arguments: [
      (pool: 6 * gibibyte, ledger: gibibyte, machine: 24 * gibibyte, level: Check.Level.ok, words: "the ledger has 1G"),
      (256 << 20, 3 * gibibyte, 24 * gibibyte, .warn, "start it with --database-memory 4G; this machine has 24G"),
      (256 << 20, 300 << 20, 2 * gibibyte, .warn, "start it with --database-memory 384M"),
      (6 * gibibyte, 40 * gibibyte, 24 * gibibyte, .warn, "--database-memory 12G; for all of it move to a machine"),
      (6 * gibibyte, 40 * gibibyte, nil, .warn, "set innodb_buffer_pool_size to 64G on the server"),
    ] as [(Int, Int, Int?, Check.Level, String)])
  func `is compared with the ledger`(pool: Int, ledger: Int, machine: Int?, level: Check.Level, words: String) {
    let check = MemoryCheck(
      bufferPool: ByteSize(pool), ledger: ByteSize(ledger), machine: machine.map(ByteSize.init)
    ).check
    #expect(check.level == level)
    #expect(check.line.contains(words), "\(check.line)")
  }

  /// What is advised can be typed, and is what is meant.
  @Test func `is advised in sizes that are taken`() throws {
    let tenth = Self.gibibyte / 10
    for ledger in stride(from: 300 << 20, to: 40 * Self.gibibyte, by: tenth) {
      for machine in [1, 3, 7, 24, 64].map({ $0 * Self.gibibyte + tenth }) + [nil] {
        let check = MemoryCheck(
          bufferPool: ByteSize(32 << 20), ledger: ByteSize(ledger), machine: machine.map(ByteSize.init)
        ).check
        let words = machine == nil ? "innodb_buffer_pool_size to " : "--database-memory "
        let text = check.line.split(separator: words).last?.prefix { $0.isLetter || $0.isNumber || $0 == "." } ?? ""
        let size = try #require(ByteSize(String(text)), "\(check.line)")
        #expect(size.bytes > 0 && size.bytes <= (machine ?? .max) / 2 + 1 || machine == nil, "\(check.line)")
      }
    }
  }

  @Test func `is compared for a server of the operator's own, too`() async throws {
    let database = try await TestDatabase.migrated()
    let doctor = try await database.program.run("doctor", "--json")
    let checks = try doctor.objects.first?["checks"]?.array?.compactMap(\.object) ?? []
    let memory = try #require(checks.first { $0["name"] == "memory" })
    #expect(memory["level"] == "ok", "\(memory)")
    #expect(memory["detail"]?.string?.contains("the database's buffer pool 64M") == true, "\(memory)")
  }
}
