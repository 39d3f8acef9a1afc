/// docs/simulator.md and README.md, typed word for word.
@Suite struct SimulatorPageStory {
  @Test func `the examples of the page work, and the simulator ends with 0 at SIGTERM`() async throws {
    let blocks = try Runbook(page: "docs/simulator.md").blocks.map(\.commands)
    let place = TemporaryDirectory()
    let program = Program()
    // The page's port and folder are its reader's; ours are free.
    let start = try #require(blocks.first).split(separator: " ").dropFirst().map {
      $0 == "8090" ? "0" : $0 == "world" ? "\(place.path)/world" : String($0)
    }
    try program.write([], to: "\(place.path)/input")
    let id = try program.spawn(start, place.path)
    let isReady = await eventually(within: .seconds(60)) {
      Program.text("\(place.path)/output").contains(#""ready":true"#)
    }
    let outcome = try await Inbox.with { inbox, url in
      let script = (["cd '\(place.path)'"] + blocks.dropFirst()).joined(separator: "\n")
        .replacing("http://127.0.0.1:8080/", with: url + "/")
      let outcome = try await program.shell(script)
      #expect(!inbox.posts.isEmpty, "what happens in 30 days is posted")
      return outcome
    }
    kill(id, SIGTERM)
    #expect(await Program.ended(id) == 0)
    #expect(isReady)
    #expect(outcome.status == 0, "\(outcome)")
    for answer in [#""customers":["#, #""status":0"#, "ORIGINAL", #""delivered":"#, #""fault":"rateLimited""#] {
      #expect(outcome.output.contains(answer), "\(answer) is missing in \(outcome.output.prefix(4_000))")
    }
  }

  @Test func `the example of README.md ends in a response from the ledger`() async throws {
    let place = TemporaryDirectory()
    let blocks = try Runbook(page: "README.md").blocks
    let example = try #require(blocks.first { $0.commands.contains("switchyard simulate") }).commands
    let ports = try Self.freePorts(2)
    let script = example.replacing("8090", with: ports[0]).replacing("127.0.0.1:8080", with: "127.0.0.1:\(ports[1])")
      .replacing("switchyard serve", with: "switchyard serve --listen 127.0.0.1:\(ports[1])")
    #expect(script.contains("$(mktemp -d)"))
    // As in a shell that a person uses: a pipe's exit status is its last command's.
    let outcome = try await Program().shell(
      "set +o pipefail\nexport TMPDIR=\(place.path)\n\(script)\nwait\n")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.contains("Switchyard-Answered-By: ledger"), "\(outcome)")
    #expect(outcome.output.contains("user-0.0"), "\(outcome)")
  }

  /// Free ports of the loopback interface below those that the kernel gives to other tests.
  private static func freePorts(_ count: Int) throws -> [String] {
    var ports: [String] = []
    for port in (UInt16(20_000)..<30_000).shuffled() where ports.count < count {
      guard let listener = try? SilentListener(port: port) else { continue }
      listener.close()
      ports.append("\(port)")
    }
    try #require(ports.count == count)
    return ports
  }
}
