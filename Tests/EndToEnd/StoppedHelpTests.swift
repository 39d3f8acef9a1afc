import Testing

/// What the help of every command that may run for longer than a second says of signals.
@Suite struct `The help of a command that can be stopped` {
  @Test func `says how it ends, and what stays`() async throws {
    for words in [
      ["reconcile"], ["seeds", "run"], ["extract"], ["db", "rebuild"], ["db", "dump"], ["db", "migrate"],
      ["quarantine", "replay"], ["quarantine", "purge"], ["outbox", "replay"], ["outbox", "dead"], ["doctor"],
      ["receipt", "inspect"], ["jws", "verify"], ["api", "history"], ["api", "extend"], ["simulate", "stream"],
      ["simulate"], ["simulate", "control"], ["consumption", "answer"], ["rollout", "drill"], ["rollout", "auto"],
      ["rollout", "watch"],
    ] {
      let help = try await Program().run(words + ["--help"]).output.split(separator: "\n").joined(separator: " ")
      #expect(help.contains("ends with exit status 130 or 143"), "\(words): \(help)")
    }
    let root = try await Program().run("--help").output.split(separator: "\n").joined(separator: " ")
    #expect(root.contains("130 stopped by SIGINT") && root.contains("143 stopped by SIGTERM"), "\(root)")
  }
}
