/// `switchyard migrate verify`: a migration's customers answered by us, beside the simulated App Store's verifyReceipt.
@Suite struct `switchyard migrate verify` {
  private static let app = MigrateSite.app

  @Test func `compares our answers of migrated customers with Apple's, and counts as evidence`() async throws {
    try await MigrateSite.with(customers: 12) { site in
      let program = site.program
      let table = site.database.place.file("receipts.csv", Array(site.receipts.joined(separator: "\n").utf8))
      let job = try await site.start(table)
      let service = try await site.serve()
      #expect(try await site.ended(job)["state"] == "done", "\(service.notes.suffix(2_000))")
      #expect(await service.end(SIGTERM) == 0)
      let verify = ["migrate", "verify", "\(job)", "--receipts-per-second", "50"] + site.roots

      let hindered = try await program.run(verify)
      #expect(hindered.status == 4 && hindered.notes.contains("no shared secret"), "\(hindered)")
      let dry = try await program.run(verify + ["--dry-run", "--json"])
      let obstacle = try dry.objects.first
      #expect(dry.status == 4 && obstacle?["obstacle"] == "noSharedSecret" && obstacle?["dryRun"] == true, "\(dry)")
      let other = try await program.run(verify + ["--environment", "Production", "--json"])
      #expect(other.status == 4 && other.notes.contains("no usable rows for Production"), "\(other)")
      #expect(try other.objects.first?["obstacle"] == "noUsableRows", "\(other)")
      let secret = site.apple.world["apps"]?.array?.first?.object?["sharedSecret"]?.string ?? ""
      let file = site.database.place.file("secret", Array(secret.utf8))
      #expect(try await program.run("app", "secret", Self.app, "--shared-secret-file", file).status == 0)

      let looked = try await program.run(verify + ["--dry-run"])
      #expect(looked.status == 0 && looked.notes.contains("are compared, with"), "\(looked)")
      #expect(try await site.database.rows("SELECT 1 FROM comparisons").isEmpty)

      // Without the simulator's roots its receipts are not proven: what is missing is in the command that comes next.
      let bare = try await program.run("migrate", "verify", "\(job)", "--receipts-per-second", "50", "--json")
      #expect(bare.status == 4 && bare.output.contains("--trust-root FILE"), "\(bare)")
      #expect(try bare.objects.first?["cause"] == "unproven", "\(bare)")
      let again = try bare.objects.first?["next_steps"]?.array?.first?.string ?? ""
      #expect(again.contains(" --receipts-per-second '50'") && !again.contains("--base-url"), "\(again)")

      let verified = try await program.run(verify + ["--json"])
      let proof = try #require(try verified.objects.first, "\(verified)")
      // The job brought fewer customers than a sample needs: all of them are compared.
      #expect(proof["everyReceipt"] == true && proof["unanswered"] == 0, "\(verified)")
      #expect(proof["affected"] == 0 && proof["incomplete"] == 0 && proof["notCompared"] == 0, "\(verified)")
      #expect(verified.status == 0 && proof["verdict"] == "proven", "\(verified)")
      let rows = try await site.database.rows("SELECT COUNT(*) AS times FROM comparisons")
      let receipts = site.receipts.dropFirst().filter { !$0.isEmpty }.count
      let told = proof["causes"]?.object?.members.reduce(0) { $0 + ($1.value.integer ?? 0) }
      #expect(try rows.first?.int64("times") == told && told == Int64(receipts), "\(proof)")
      let audited = try await site.database.rows("SELECT 1 FROM audit WHERE action = 'migration.verify'")
      #expect(audited.count == 2, "without a secret nothing is compared")

      // A sample is enough where more is allowed: six customers, drawn by lot.
      let sampled = try await program.run(verify + ["--max-impact", "40", "--json"])
      let few = try #require(try sampled.objects.first, "\(sampled)")
      #expect(sampled.status == 0 && few["customers"] == 6 && few["everyReceipt"] == false, "\(sampled)")

      // Evidence counts the same customers, however often they are compared on one day.
      #expect(try await program.run(verify).status == 0)
      let advance = try await program.run(
        "rollout", "advance", Self.app, "--environment", "Sandbox", "--dry-run", "--json")
      let evidence = try advance.objects.first?["evidence"]?.object
      #expect(evidence?["customers"] == proof["customers"], "\(advance)")

      // Another job brings nothing that is new, and all of it is compared.
      let repeated = try await program.run(["migrate", "start", table, "--yes", "--here"] + site.roots)
      #expect(repeated.status == 0, "\(repeated)")
      let second = try await program.run(
        ["migrate", "verify", "\(job + 1)", "--receipts-per-second", "50", "--json"] + site.roots)
      let all = try #require(try second.objects.first, "\(second)")
      #expect(second.status == 0 && all["everyReceipt"] == true, "\(second)")
      #expect(all["customers"] == proof["customers"], "\(second)")
    }
  }

  @Test func `compares nothing where Apple does not answer, or refuses the secret`() async throws {
    try await MigrateSite.with(customers: 4) { site in
      var program = site.program
      let table = site.database.place.file("receipts.csv", Array(site.receipts.joined(separator: "\n").utf8))
      let job = try await site.start(table)
      let service = try await site.serve()
      #expect(try await site.ended(job)["state"] == "done", "\(service.notes.suffix(2_000))")
      #expect(await service.end(SIGTERM) == 0)
      let file = site.database.place.file("secret", Array(String(repeating: "5", count: 32).utf8))
      #expect(try await program.run("app", "secret", Self.app, "--shared-secret-file", file).status == 0)
      let refused = try await program.run(["migrate", "verify", "\(job)", "--json"] + site.roots)
      let verdict = try refused.objects.first?["verdict"]
      #expect(refused.status == 4 && verdict == "wrongSecret", "\(refused)")
      // Nobody listens there.
      program.environment["SWITCHYARD_BASE_URL"] = "http://127.0.0.1:9"
      let verified = try await program.run(
        ["migrate", "verify", "\(job)", "--receipts-per-second", "50", "--json"] + site.roots)
      #expect(try verified.status == 7 && verified.objects.first?["cause"] == "unanswered", "\(verified)")
      #expect(try verified.objects.first?["unanswered"] != 0, "\(verified)")
      let next = try verified.objects.first?["next_steps"]?.array?.first?.string ?? ""
      #expect(next.hasPrefix("switchyard migrate verify \(job) --app \(Self.app)"), "\(verified)")
      #expect(next.contains(" --trust-root '\(site.apple.root)'"), "\(verified)")
      #expect(try await site.database.rows("SELECT 1 FROM comparisons").isEmpty)
    }
  }
}
