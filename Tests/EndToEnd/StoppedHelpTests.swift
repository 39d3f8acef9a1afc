/// What the help of every command that may run for longer than a second says of signals.
@Suite struct `The help of a command that can be stopped` {
  private static let commands = [
    (["reconcile"], "What came is stored. Run the same command again"), (["seeds", "run"], "are due at once"),
    (["extract"], "The rest of the input was not read"), (["db", "rebuild"], "nothing was changed"),
    (["db", "dump"], "Nothing was changed"), (["db", "migrate"], "The steps that were done stay"),
    (["quarantine", "replay"], "the rest is in quarantine"), (["quarantine", "purge"], "the rest is kept"),
    (["outbox", "replay"], "What was changed stays so"), (["outbox", "dead"], "What was changed stays so"),
    (["doctor"], "The other checks were not made"), (["receipt", "inspect"], "The other files were not read"),
    (["jws", "verify"], "The rest of the input was not verified"),
    (["api", "history"], "A list goes on with revision="),
    (["api", "extend"], ""), (["simulate"], "What was written is whole lines"),
    (["simulate", "control"], "goes on with the order"),
    (["consumption", "answer"], "told again by the service"),
    (["rollout", "advance"], "Run it again to continue"), (["rollout", "status"], "Nothing was changed"),
  ]

  @Test(arguments: commands) func `says how it ends, and what stays`(words: [String], note: String) async throws {
    let help = try await Program().run(words + ["--help"]).output.split(separator: "\n").joined(separator: " ")
    #expect(help.contains("ends with exit status 130 or 143"), "\(words): \(help)")
    #expect(note.isEmpty || help.contains(note), "\(words): \(help)")
  }

  @Test func `is summed up by the help of the program`() async throws {
    let help = try await Program().run("--help").output.split(separator: "\n").joined(separator: " ")
    #expect(help.contains("130 stopped by SIGINT"), "\(help)")
    #expect(help.contains("143 stopped by SIGTERM"), "\(help)")
  }
}
