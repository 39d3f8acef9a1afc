import Glibc
import JSON
import Support
import Testing
import Time

/// runbooks/compat-endpoint.md, typed word for word against a simulated App Store.
@Suite struct `The runbook that answers verifyReceipt from the ledger` {
  private static let app = "com.example.compat"

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
          "RECEIPT": database.place.file("receipt.b64", try apple.longestReceipt()),
        ]
        typed = .success(try await Runbook("compat-endpoint").type(values, program, in: database.place.path))
      } catch { typed = .failure(error) }
      await service.end(SIGTERM)
      #expect(!service.notes.contains(secret))
      try expect(try typed.get(), secret)
    }
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
