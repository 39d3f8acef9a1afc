/// What the help of every command that may run for longer than a second says of signals.
@Suite struct `The help of a command that can be stopped` {
  private static let commands = [
    (["reconcile"], "Received data is stored. Run the same command again"), (["seeds", "run"], "are due immediately"),
    (["extract"], "The rest of the input was not read"), (["db", "rebuild"], "nothing was changed"),
    (["db", "dump"], "Nothing was changed"), (["db", "migrate"], "The finished steps stay"),
    (["quarantine", "replay"], "the rest is in quarantine"), (["quarantine", "purge"], "the rest is kept"),
    (["outbox", "replay"], "Finished changes stay"), (["outbox", "dead"], "Finished changes stay"),
    (["doctor"], "The other checks were not made"), (["receipt", "inspect"], "The other files were not read"),
    (["jws", "verify"], "The rest of the input was not verified"),
    (["api", "history"], "Continue a list with revision="),
    (["api", "extend"], ""), (["simulate"], "Only whole lines were written"),
    (["simulate", "control"], "continues with its order"),
    (["consumption", "answer"], "The service repeats an answer"),
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
