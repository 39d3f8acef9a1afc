import Glibc
import JSON
import Support
import Testing
import Time

/// runbooks/compat-endpoint.md, typed word for word against a simulated App Store.
@Suite struct `The runbook that answers verifyReceipt from the ledger` {
  private static let app = "com.example.compat"
  private static let mark: Character = "\u{1E}"

  @Test func `goes live in the Sandbox and back, as it is written`() async throws {
    let database = try await TestDatabase.migrated()
    let world = ["--customers", "12", "--history", "60", "--seed", "11", "--app", Self.app]
    try await RunningSimulator.with(world, in: database.place) { apple in
      var program = database.program
      program.environment["SWITCHYARD_DATA_DIR"] = "\(database.place.path)/data"
      program.environment["SWITCHYARD_VERIFY_RECEIPT_URL"] = apple.url + "/verifyReceipt"
      program.environment["SWITCHYARD_VERIFY_RECEIPT_SANDBOX_URL"] = apple.url + "/sandbox/verifyReceipt"
      program.environment.merge(apple.environment) { $1 }
      let secret = try #require(apple.world["apps"]?.array?.first?.object?["sharedSecret"]?.string)
      let file = database.place.file("secret.txt", Array((secret + "\n").utf8))
      // Connected before, as the page says.
      let added = try await program.run(["app", "add", Self.app] + apple.key)
      try #require(added.status == 0, "\(added)")
      #expect(try await program.run("app", "secret", Self.app, "--file", file).status == 0)
      let service = try await RunningProgram.serve(
        program,
        ["--trust-root", apple.root, "--trust-root", "\(apple.directory)/receipt-root.der"]
          + ["--reconcile-every", "0", "--heartbeat-every", "0"])
      let typed: Result<[String], any Error>
      do {
        let values = [
          "APP": Self.app, "SECRET_FILE": file, "URL": service.url,
          "RECEIPT": database.place.file("receipt.b64", try Self.receipt(in: apple)),
        ]
        typed = .success(try await type(values, program, in: database.place))
      } catch { typed = .failure(error) }
      await service.end(SIGTERM)
      #expect(!service.notes.contains(secret))
      try expect(try typed.get(), secret)
    }
  }

  /// Of a customer with a subscription.
  private static func receipt(in apple: RunningSimulator) throws -> [UInt8] {
    let rows = Program.text("\(apple.directory)/receipts.csv").split(separator: "\n").dropFirst()
    let receipts = rows.compactMap { $0.split(separator: ",").last.map { Array($0.utf8) } }
    return try #require(receipts.max { $0.count < $1.count })
  }

  /// Types all blocks, with `values` in place of the page's examples; what each printed, the first left out.
  private func type(
    _ values: [String: String], _ program: Program, in place: TemporaryDirectory
  ) async throws -> [String] {
    let runbook = try Runbook("compat-endpoint")
    #expect(runbook.headings == Runbook.headings)
    #expect(!runbook.hasUntyped, "every command is in a block that is typed")
    let first = try #require(runbook.blocks.first)
    let examples = try #require(Runbook.filled(first.commands, with: values), "other values are asked for")
    var script = "cd '\(place.path)'\n"
    // What undoes it all comes last.
    let rest = runbook.blocks.dropFirst()
    for block in [examples] + rest.map(\.commands) { script += "printf '\(Self.mark)'\n\(block)\n" }
    let outcome = try await program.shell(script)
    #expect(outcome.status == 0, "\(outcome)")
    let printed = outcome.output.split(separator: Self.mark, omittingEmptySubsequences: false).dropFirst(2)
    try #require(printed.count == rest.count, "\(outcome)")
    return printed.map(String.init)
  }

  private func expect(_ printed: [String], _ secret: String) throws {
    let all = printed.joined()
    #expect(printed[0].contains("SAME"), "Apple's answer and ours")
    #expect(printed[1].lowercased().contains("switchyard-answered-by: apple"))
    #expect(all.contains("Sandbox: record to live, forced"))
    let live = printed.first { $0.lowercased().contains("answered-by: l") }
    #expect(live != nil, "from the ledger, or by a look-up")
    #expect(all.contains("Sandbox is in live") && all.contains("Sandbox: live to record\n"))
    #expect(printed.last?.lowercased().contains("switchyard-answered-by: apple") == true)
    #expect(!all.contains(secret))
  }
}
