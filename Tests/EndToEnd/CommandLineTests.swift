@Suite struct `The command line` {
  private let program = Program()

  @Test func `tells its version and completes in every shell`() async throws {
    #expect(try await program.run("--version").output.hasPrefix("switchyard 1."))
    for shell in ["bash", "zsh", "fish"] {
      let outcome = try await program.run("completion", shell)
      #expect(outcome.status == 0)
      for name in ["quarantine", "convert", "mappings"] { #expect(outcome.output.contains(name)) }
    }
  }

  @Test func `shows its commands by what they are for when none is named`() async throws {
    let outcome = try await program.run([])
    let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(outcome.status == 0 && lines.count <= 60, "\(outcome)")
    for title in ["SET UP", "ROLL OUT", "INVESTIGATE", "OFFLINE"] { #expect(lines.contains(Substring(title))) }
  }

  @Test(
    arguments: [
      (["app"], "Say which"), (["quarantaine", "list"], "Did you mean \"quarantine\"?"),
      (["jws", "verify"], "Give FILE"),
      (["jws", "verify", "--rot", "x", "y"], "Did you mean \"--root\"?"), (["quarantine", "replay"], "Say which"),
      (["quarantine", "replay", "--all", "--code", "x"], "Say which"), (["quarantine", "list", "xyz"], "hexadecimal"),
      (["db", "status", "--database", "http://x"], "mysql://"), (["rollout", "kill"], "--all for every app"),
      (["db", "status", "--database", "mysql://u@h"], "names no database"), (["app", "add", "a b"], "bundle id"),
      (["app", "add", "com.example", "--key-id", "x"], "go together"),
      (["migrate", "status", "--watch"], "which JOB"),
      (["app", "add", "x", "--app-apple-id", "0"], "whole"),
      (["app", "token", "x", "--revoke", "12"], "hexadecimal"),
      (["simulate", "purchase", "coins.10"], "There is no command \"purchase\""),
      (["serve", "--bodies-in-flight", "0"], "from 1 to 65536"),
      (["serve", "--connections-per-address", "many"], "from 0 to 65536"),
      (["serve", "--apple-networks", "17.0.0.0/40"], "--apple-networks takes"),
      (["serve", "--back-end-networks", "example.com"], "--back-end-networks takes"),
      (["serve", "--allow-from", "everybody"], "`anywhere`"),
      (
        ["db", "rebuild", "--trust-root", "/dev/null", "--trust-root", "Production"],
        "no root certificate can be read"
      ),
    ] as [([String], String)])
  func `says what is wrong with a call, and does nothing`(arguments: [String], words: String) async throws {
    let outcome = try await program.run(arguments)
    #expect(outcome.status == (words.hasPrefix("no root") ? 1 : 2), "\(outcome)")
    #expect(outcome.notes.contains(words), "\(outcome)")
    #expect(outcome.output == "")
  }

  @Test func `trusts a root for Production only when told so in so many words`() async throws {
    let place = TemporaryDirectory()
    let root = try SignedFixtures().root(in: place)
    let options = ["quarantine", "replay", "--all", "--trust-root", root, "--trust-root", "Production"]
    let refused = try await program.run(options + ["--data-dir", "\(place.path)/data"])
    #expect(refused.status == 2)
    #expect(refused.notes.contains("--i-know-this-root-can-make-purchases-count"))
    let allowed = try await TestDatabase.migrated().program.run(
      options + ["--i-know-this-root-can-make-purchases-count"])
    #expect(allowed.status == 0, "\(allowed)")
  }
}
